"""Agents of LangChain's and LangGraph's whose models are scripts: real graphs, of which each test knows what they will do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Annotated, Any

from langchain.agents import create_agent
from langchain.agents.middleware import ToolErrorMiddleware
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, InjectedToolCallId, ToolException, tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import PrivateAttr

USAGE = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
Line = AIMessage | Callable[[list[BaseMessage]], AIMessage] | Exception


class Script(BaseChatModel):
    """Plays its lines, one after another, and the last one for ever. A line may look at what the model is asked."""

    lines: list[Any]
    _at: int = PrivateAttr(default=0)
    _lock: Any = PrivateAttr(default_factory=threading.Lock)

    @property
    def _llm_type(self) -> str:
        return "script"

    @property
    def asked(self) -> int:
        return self._at

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with self._lock:
            line = self.lines[min(self._at, len(self.lines) - 1)]
            self._at += 1
            number = self._at
        if isinstance(line, Exception):
            raise line
        message = line(messages) if callable(line) else line
        calls = [{**call, "id": f"call_{number}_{n}"} for n, call in enumerate(message.tool_calls)]
        return ChatResult(generations=[ChatGeneration(message=message.model_copy(update={"tool_calls": calls, "id": None}))])


def call(tool: str, text: str = "", **args: Any) -> AIMessage:
    return calls((tool, args), text=text)


def calls(*wanted: tuple[str, dict[str, Any]], text: str = "") -> AIMessage:
    tools = [{"name": name, "args": args, "id": ""} for name, args in wanted]
    return AIMessage(content=text, tool_calls=tools, usage_metadata=USAGE)


def say(text: str) -> AIMessage:
    return AIMessage(content=text, usage_metadata=USAGE)


@tool
def search(query: str) -> str:
    """Searches the archive."""
    return "one letter, of 1911"


@tool
def read(page: int) -> str:
    """Reads a page of the diary."""
    return f"page {page}: " + " ".join(f"word{page * 31 + n}" for n in range(12))


@tool
def fetch(url: str) -> str:
    """Fetches a page of the web."""
    raise ConnectionError("the host does not answer")


@tool
def find_letter(query: str) -> str:
    """Searches where nothing is."""
    return "No results found."


@tool
def borrow(book: str) -> str:
    """Borrows a book, or says why not."""
    raise ToolException("the library is closed")


borrow.handle_tool_error = True

tools: dict[str, BaseTool] = {t.name: t for t in (search, read, fetch, find_letter, borrow)}


def transfer(to: str) -> BaseTool:
    """A tool that hands over to another agent of the graph around."""

    def hand_over(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        done = ToolMessage(f"Transferred to {to}.", tool_call_id=tool_call_id)
        return Command(goto=to, graph=Command.PARENT, update={"messages": [done]})

    return tool(f"transfer_to_{to}", description=f"Hands over to the {to}.")(hand_over)


def researcher(lines: list[Any], *, forgiving: bool = False, middleware: Sequence[Any] = (), **more: Any) -> Any:
    """An agent with an archive. A forgiving one is told of a tool's failure instead of failing with it."""
    more["middleware"] = [*middleware, ToolErrorMiddleware(lambda error, request: str(error))] if forgiving else middleware
    return create_agent(Script(lines=lines), list(tools.values()), name="researcher", **more)


def pair(times: int, *middleware: Any) -> Any:
    """Two agents that hand over to each other so many times, and do nothing else."""
    left = [times]

    def over(to: str) -> Callable[[list[BaseMessage]], AIMessage]:
        def line(messages: list[BaseMessage]) -> AIMessage:
            left[0] -= 1
            return call(f"transfer_to_{to}") if left[0] >= 0 else say("I keep it.")

        return line

    graph = StateGraph(MessagesState)
    for name, other in (("writer", "critic"), ("critic", "writer")):
        agent = create_agent(Script(lines=[over(other)]), [transfer(other)], name=name, middleware=middleware)
        graph.add_node(name, agent)
    graph.add_edge(START, "writer")
    return graph.compile(name="pair")
