"""An agent of the Microsoft Agent Framework that loops, and the guard that nudges and stops it. The model is a script, so no key is
needed.

python3 -m pip install "./sdk/python[agent-framework]"
python3 examples/python/agent_framework_agent.py
"""

import asyncio
from typing import Any
from uuid import uuid4

import unloop
from agent_framework import Agent, BaseChatClient, ChatMiddlewareLayer, ChatResponse, Content, FunctionInvocationLayer, Message
from unloop.agent_framework import unloop_middleware


class Stubborn(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that does not listen: it asks for the same search at each step."""

    async def _inner_get_response(self, **kwargs: Any) -> ChatResponse:
        call = Content.from_function_call(uuid4().hex, "search", arguments={"query": "the lost letter"})
        return ChatResponse(messages=[Message("assistant", [call])])


def search(query: str) -> str:
    """Searches the archive."""
    return "0 results"


async def main() -> None:
    agent = Agent(Stubborn(), name="archivist", tools=[search], middleware=unloop_middleware(unloop.AsyncGuard()))
    try:
        print(await agent.run("Find the letter."))
    except unloop.LoopError as stopped:
        print("stopped:", stopped)


asyncio.run(main())
