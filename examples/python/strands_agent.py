"""An agent of Strands that loops, and the guard that nudges and stops it. The model is a script, so no key is needed.

python3 -m pip install "./sdk/python[strands]"
python3 examples/python/strands_agent.py
"""

from collections.abc import AsyncGenerator
from typing import Any
from uuid import uuid4

import unloop
from strands import Agent, tool
from strands.models import Model
from strands.types.exceptions import EventLoopException
from unloop.strands import UnloopHooks


class Stubborn(Model):
    """A model that does not listen: it asks for the same search at each step."""

    async def stream(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": {"name": "search", "toolUseId": uuid4().hex}}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"query": "the lost letter"}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}

    def get_config(self) -> dict[str, Any]:
        return {"model_id": "stubborn"}

    def update_config(self, **config: Any) -> None: ...

    def structured_output(self, *args: Any, **kwargs: Any) -> Any: ...


@tool
def search(query: str) -> str:
    """Searches the archive."""
    return "0 results"


agent = Agent(model=Stubborn(), tools=[search], hooks=[UnloopHooks(unloop.AsyncGuard())])
try:
    agent("Find the letter.")
except EventLoopException as error:
    print("stopped:", error.__cause__)
