"""A LangGraph agent whose model is a script, watched by the published client's adapter."""

import warnings

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.prebuilt import create_react_agent
from looplens.integrations.langgraph import LoopLensCallbackHandler
from looplens.sdk import flush


class Script(BaseChatModel):
    """Says what its lines are, one after another."""

    lines: list
    at: int = 0

    @property
    def _llm_type(self):
        return "script"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs):
        line = self.lines[self.at]
        self.at += 1
        return ChatResult(generations=[ChatGeneration(message=line)])


def call(n, name, **arguments):
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return AIMessage(content="", tool_calls=[{"name": name, "args": arguments, "id": f"call_{n}Xk2mQ9vRt7LpZs4Wd8Yb"}], usage_metadata=usage)


@tool
def search(query: str) -> str:
    """Searches."""
    return "no results"


@tool
def transfer_to_writer(reason: str) -> str:
    """Hands over."""
    return "done"


lines = [call(n, "search", query="where is it") for n in range(6)]
lines += [call(6, "transfer_to_writer", reason="enough"), AIMessage(content="I give up.")]
warnings.simplefilter("ignore")
agent = create_react_agent(Script(lines=lines), [search, transfer_to_writer])
agent.invoke(
    {"messages": [("user", "find it")]},
    config={"callbacks": [LoopLensCallbackHandler(name="graph-agent", project="graphs")], "recursion_limit": 40},
)
flush(10)
