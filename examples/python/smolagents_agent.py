"""An agent of smolagents that loops, and the guard that nudges and stops it. The model is a script, so no key is needed.

python3 -m pip install "./sdk/python[smolagents]"
python3 examples/python/smolagents_agent.py
"""

from typing import Any

import unloop
from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from unloop.smolagents import Unloop


class Stubborn(Model):
    """A model that does not listen: it asks for the same search at each step."""

    def generate(self, *args: Any, **kwargs: Any) -> ChatMessage:
        function = ChatMessageToolCallFunction(name="search", arguments={"query": "the lost letter"})
        call = ChatMessageToolCall(id="call", type="function", function=function)
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])


@tool
def search(query: str) -> str:
    """Searches the archive.

    Args:
        query: what to search
    """
    return "0 results"


agent = Unloop(unloop.Guard()).protect(ToolCallingAgent(tools=[search], model=Stubborn()))
try:
    agent.run("Find the letter.")
except unloop.LoopError as stopped:
    print("stopped:", stopped)
