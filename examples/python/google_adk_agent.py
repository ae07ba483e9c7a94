"""An agent of Google ADK that loops, and the guard that nudges and stops it. The model is a script, so no key is needed.

python3 -m pip install "./sdk/python[google-adk]"
python3 examples/python/google_adk_agent.py
"""

import asyncio
from collections.abc import AsyncGenerator

import unloop
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from unloop.google_adk import UnloopPlugin


class Stubborn(BaseLlm):
    """A model that does not listen: it asks for the same search at each step."""

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        call = types.Part.from_function_call(name="search", args={"query": "the lost letter"})
        yield LlmResponse(content=types.Content(role="model", parts=[call]))


def search(query: str) -> str:
    """Searches the archive."""
    return "0 results"


async def main() -> None:
    archivist = LlmAgent(name="archivist", model=Stubborn(model="stubborn"), tools=[search])
    app = App(name="archive", root_agent=archivist, plugins=[UnloopPlugin(unloop.AsyncGuard())])
    async with InMemoryRunner(app=app) as runner:
        try:
            for event in await runner.run_debug("Find the letter.", quiet=True):
                print(event.content)
        except RuntimeError as error:
            print("stopped:", error.__cause__)


asyncio.run(main())
