"""An agent of LlamaIndex that loops, and the guard that nudges and stops it. The model is a script, so no key is needed.

python3 -m pip install "./sdk/python[llama-index]"
python3 examples/python/llama_index_agent.py
"""

import asyncio
from typing import Any

import unloop
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ToolCallBlock
from llama_index.core.llms import ChatMessage, MockFunctionCallingLLM
from unloop.llama_index import Unloop


def stubborn(messages: list[ChatMessage], **kwargs: Any) -> ChatMessage:
    """A model that does not listen: it asks for the same search at each step."""
    call = ToolCallBlock(tool_call_id="call", tool_name="search", tool_kwargs={"query": "the lost letter"})
    return ChatMessage(role="assistant", blocks=[call])


def search(query: str) -> str:
    """Searches the archive."""
    return "0 results"


async def main() -> None:
    agent = FunctionAgent(name="archivist", tools=[search], llm=MockFunctionCallingLLM(response_generator=stubborn))
    try:
        print(await Unloop(unloop.AsyncGuard()).protect(agent).run("Find the letter."))
    except unloop.LoopError as stopped:
        print("stopped:", stopped)


asyncio.run(main())
