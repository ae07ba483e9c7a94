"""The callback handler: it tells a server what a chain, a graph or an agent of LangChain's does."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from .._adapter import arguments, handoff, quietly
from .._run import Run, current_run
from . import _read
from ._tree import Open, Tree

BLOCKED = "unloop.blocked"  # the custom event of a call that UnloopMiddleware did not let run

_OPEN = 10_000  # calls that are open at once; those beyond were never ended
_TRIED = 1_000  # what failed in one call


class UnloopCallbackHandler(BaseCallbackHandler):
    """Tells of model calls, tool calls, retries, errors and handoffs: config={"callbacks": [UnloopCallbackHandler()]}.

    The outermost call is a run, which has the id of the thread where there is one; within unloop.trace() all belongs to that
    run. One handler serves any number of graphs, threads and tasks at once. It never raises, never waits and changes nothing.
    """

    run_inline = True  # in async graphs, too: on a thread of their own, ends could overtake beginnings

    def __init__(self) -> None:
        self._open = Tree(_OPEN)

    @quietly
    def on_chain_start(self, serialized: dict[str, Any] | None, inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._begin(run_id, serialized, kwargs)
        if call.owns:  # within a trace the input may be any program's, and each turn forgives something
            said = _read.asked(inputs)
            if said is not None:
                call.run.event("message", role="user", text=said)
        if any(tag.startswith("graph:step:") for tag in kwargs.get("tags") or ()):
            facts = kwargs.get("metadata") or {}
            call.node = facts.get("langgraph_node")
            self._attempts(call, f"task {facts.get('langgraph_checkpoint_ns')}", call.node)

    @quietly
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.node:
            _goes(call, _read.destinations(outputs))
        if call.owns:
            call.run.end()

    @quietly
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if _read.steers(error):
            _goes(call, _read.destinations(error.args[0] if error.args else None))
        self._failed(call, error)

    @quietly
    def on_retriever_start(self, serialized: dict[str, Any] | None, query: str, *, run_id: UUID, **kwargs: Any) -> None:
        self._begin(run_id, serialized, kwargs)

    @quietly
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.on_chain_end(None, run_id=run_id)

    @quietly
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.on_chain_error(error, run_id=run_id)

    @quietly
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._begin(run_id, serialized, kwargs)
        tool = _read.title(serialized, kwargs)
        args = arguments(input_str) if kwargs.get("inputs") is None else kwargs["inputs"]
        for outer in call.around():
            outer.acted = True
        if kwargs.get("tool_call_id"):
            self._attempts(call, f"call {kwargs['tool_call_id']}", tool)
        to = handoff(tool, args)
        if to:
            _hands_over(call, to)
            return
        call.tool = tool
        call.start = call.run.event("tool_call_started", agent=call.agent, tool=tool, call_id=str(run_id), input=args)

    @quietly
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.tool is None:  # a handoff, which the graph may carry out by a command
            _has_handed_over(call, _read.destinations(output))
        else:
            value, failed = _read.answer(output)
            if failed:
                self._ended(call, "tool_call_failed", error=value)
            else:
                self._ended(call, "tool_call_completed", output=value)
        if call.owns:
            call.run.end()

    @quietly
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.tool is not None:
            if _read.steers(error):  # it waits for a person, say
                self._ended(call, "tool_call_completed")
            else:
                self._ended(call, "tool_call_failed", error=error)
        self._failed(call, error)

    @quietly
    def on_chat_model_start(
        self, serialized: dict[str, Any] | None, messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        self._thinks(run_id, serialized, kwargs)

    @quietly
    def on_llm_start(self, serialized: dict[str, Any] | None, prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        self._thinks(run_id, serialized, kwargs)

    @quietly
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        call.model = _read.model(response) or call.model
        self._ended(
            call, "llm_call_completed", tokens=_read.tokens(response), usage=_read.usage(response), cost=_read.cost(response)
        )
        said = _read.said(response)
        if said:
            call.run.event("message", role="assistant", agent=call.agent, text=said)
        if call.owns:
            call.run.end()

    @quietly
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is not None:
            self._ended(call, "llm_call_failed", error=error)
            self._failed(call, error)

    @quietly
    def on_retry(self, retry_state: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.find(run_id)
        if call is not None:
            _retries(call, call.tool)

    @quietly
    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Tells of a call that never ran, and so began and ended in no other way."""
        call = self._open.find(run_id)
        if name != BLOCKED or call is None:
            return
        of: dict[str, Any] = {"agent": call.agent, "tool": data["tool"], "call_id": data["call_id"]}
        start = call.run.event("tool_call_started", input=data["input"], **of)
        call.run.event("tool_call_blocked", output=data["output"], parent_event_id=start, **of)

    def _begin(self, id: UUID, serialized: dict[str, Any] | None, given: dict[str, Any]) -> Open:
        facts = given.get("metadata") or {}
        parent = self._open.find(given.get("parent_run_id"))
        run = parent.run if parent else current_run()
        owns = run is None
        if run is None:
            run = Run.begin(_read.title(serialized, given), id=_read.session(facts))
        call = Open(id, run, parent)
        call.owns = owns
        call.agent = _read.agent(facts) or call.agent
        self._open.add(call)
        if any(tag.startswith("retry:attempt:") for tag in given.get("tags") or ()):
            _retries(call, _read.title(serialized, given))
        return call

    def _thinks(self, id: UUID, serialized: dict[str, Any] | None, given: dict[str, Any]) -> None:
        call = self._begin(id, serialized, given)
        for outer in call.around():
            outer.thought = True
        call.model = _read.model_asked(given)
        call.start = call.run.event("llm_call_started", agent=call.agent, model=call.model)

    def _attempts(self, call: Open, what: str, name: str | None) -> None:
        call.attempt = what
        if call.parent and what in call.parent.tried:
            _retries(call, name)

    def _ended(self, call: Open, type: str, **told: Any) -> None:
        """Tells how a call of a tool or a model ended."""
        if call.tool is not None:
            told.update(tool=call.tool, call_id=str(call.id))
        took = call.milliseconds()
        call.run.event(type, agent=call.agent, model=call.model, latency_ms=took, parent_event_id=call.start, **told)

    def _failed(self, call: Open, error: BaseException) -> None:
        """Notes that a call did not come to its end, and ends the run where that was all of it."""
        steered = _read.steers(error)
        if call.attempt and call.parent and not steered and len(call.parent.tried) < _TRIED:
            call.parent.tried.add(call.attempt)
        if not call.owns:
            return
        if steered:
            call.run.end()
        elif isinstance(error, (asyncio.CancelledError, GeneratorExit)):  # who followed the stream has left
            call.run.end(status="cancelled")
        else:
            call.run.end(error=error)


def _retries(call: Open, name: str | None) -> None:
    call.run.event("retry_triggered", agent=call.agent, name=name)


def _goes(call: Open, nodes: list[str]) -> None:
    """Tells of commands that lead from one node to another, where both may be agents: nodes that only run tools are none."""
    graph = call.parent
    if call.node and call.acted and not call.thought:
        if graph:
            graph.idle.add(call.node)
        return
    for to in nodes:
        if to != call.node and to not in call.handed and not (graph and to in graph.idle):
            _hands_over(call, to)


def _hands_over(call: Open, to: str) -> None:
    call.run.event("handoff_started", agent=to, metadata={"from": call.agent})
    _has_handed_over(call, [to])


def _has_handed_over(call: Open, to: list[str]) -> None:
    """Notes it on the way up, for the command that carries it out passes there."""
    call.handed.update(to)
    for outer in call.around():
        outer.handed.update(to)
