"""The callback handler records chains, graphs and agents of LangChain on a server."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from .._adapter import arguments, handoff, never_raises
from .._run import Run, current_run
from . import _extract
from ._open_calls import OpenCall, OpenCalls

BLOCKED = "unloop.blocked"  # custom event of a call that UnloopMiddleware blocked

_MAX_OPEN = 10_000  # calls that are open at once; the oldest ones never ended
_MAX_FAILED_ATTEMPTS = 1_000  # failed attempts that are kept per call


class UnloopCallbackHandler(BaseCallbackHandler):
    """Records model calls, tool calls, retries, errors and handoffs: config={"callbacks": [UnloopCallbackHandler()]}.

    The outermost call is a run, with the thread_id as its id if there is one. Within unloop.trace() all events belong to that
    run. One handler serves any number of graphs, threads and tasks concurrently. It never raises, blocks or changes the graph.
    """

    run_inline = True  # also in async graphs: in a thread pool, an end could be recorded before its start

    def __init__(self) -> None:
        self._open = OpenCalls(_MAX_OPEN)

    @never_raises
    def on_chain_start(self, serialized: dict[str, Any] | None, inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._begin(run_id, serialized, kwargs)
        if call.owns:  # within a trace the input may not be a user's, and a user message lowers the level of warnings
            text = _extract.user_text(inputs)
            if text is not None:
                call.run.event("message", role="user", text=text)
        if any(tag.startswith("graph:step:") for tag in kwargs.get("tags") or ()):
            metadata = kwargs.get("metadata") or {}
            call.node = metadata.get("langgraph_node")
            self._note_attempt(call, f"task {metadata.get('langgraph_checkpoint_ns')}", call.node)

    @never_raises
    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.node:
            _record_commands(call, _extract.command_targets(outputs))
        if call.owns:
            call.run.end()

    @never_raises
    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if _extract.is_control_flow(error):
            _record_commands(call, _extract.command_targets(error.args[0] if error.args else None))
        self._failed(call, error)

    @never_raises
    def on_retriever_start(self, serialized: dict[str, Any] | None, query: str, *, run_id: UUID, **kwargs: Any) -> None:
        self._begin(run_id, serialized, kwargs)

    @never_raises
    def on_retriever_end(self, documents: Any, *, run_id: UUID, **kwargs: Any) -> None:
        self.on_chain_end(None, run_id=run_id)

    @never_raises
    def on_retriever_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        self.on_chain_error(error, run_id=run_id)

    @never_raises
    def on_tool_start(self, serialized: dict[str, Any] | None, input_str: str, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._begin(run_id, serialized, kwargs)
        tool = _extract.runnable_name(serialized, kwargs)
        args = arguments(input_str) if kwargs.get("inputs") is None else kwargs["inputs"]
        for outer in call.ancestors():
            outer.called_tool = True
        if kwargs.get("tool_call_id"):
            self._note_attempt(call, f"call {kwargs['tool_call_id']}", tool)
        to = handoff(tool, args)
        if to:
            _record_handoff(call, to)
            return
        call.tool = tool
        call.start = call.run.event("tool_call_started", agent=call.agent, tool=tool, call_id=str(run_id), input=args)

    @never_raises
    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.tool is None:  # a handoff, which the graph may execute with a command
            _mark_handed_over(call, _extract.command_targets(output))
        else:
            value, failed = _extract.tool_result(output)
            if failed:
                self._record_end(call, "tool_call_failed", error=value)
            else:
                self._record_end(call, "tool_call_completed", output=value)
        if call.owns:
            call.run.end()

    @never_raises
    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        if call.tool is not None:
            if _extract.is_control_flow(error):  # for example, it waits for a person
                self._record_end(call, "tool_call_completed")
            else:
                self._record_end(call, "tool_call_failed", error=error)
        self._failed(call, error)

    @never_raises
    def on_chat_model_start(
        self, serialized: dict[str, Any] | None, messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        self._begin_model_call(run_id, serialized, kwargs)

    @never_raises
    def on_llm_start(self, serialized: dict[str, Any] | None, prompts: list[str], *, run_id: UUID, **kwargs: Any) -> None:
        self._begin_model_call(run_id, serialized, kwargs)

    @never_raises
    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is None:
            return
        call.model = _extract.model(response) or call.model
        self._record_end(
            call,
            "llm_call_completed",
            tokens=_extract.tokens(response),
            usage=_extract.usage(response),
            cost=_extract.cost(response),
        )
        text = _extract.assistant_text(response)
        if text:
            call.run.event("message", role="assistant", agent=call.agent, text=text)
        if call.owns:
            call.run.end()

    @never_raises
    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.take(run_id)
        if call is not None:
            self._record_end(call, "llm_call_failed", error=error)
            self._failed(call, error)

    @never_raises
    def on_retry(self, retry_state: Any, *, run_id: UUID, **kwargs: Any) -> None:
        call = self._open.find(run_id)
        if call is not None:
            _record_retry(call, call.tool)

    @never_raises
    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Records a blocked call. It never ran, so it has no other start and end."""
        call = self._open.find(run_id)
        if name != BLOCKED or call is None:
            return
        of: dict[str, Any] = {"agent": call.agent, "tool": data["tool"], "call_id": data["call_id"]}
        start = call.run.event("tool_call_started", input=data["input"], **of)
        call.run.event("tool_call_blocked", output=data["output"], parent_event_id=start, **of)

    def _begin(self, id: UUID, serialized: dict[str, Any] | None, given: dict[str, Any]) -> OpenCall:
        metadata = given.get("metadata") or {}
        parent = self._open.find(given.get("parent_run_id"))
        run = parent.run if parent else current_run()
        owns = run is None
        if run is None:
            run = Run.begin(_extract.runnable_name(serialized, given), id=_extract.session_id(metadata))
        call = OpenCall(id, run, parent)
        call.owns = owns
        call.agent = _extract.agent(metadata) or call.agent
        self._open.add(call)
        if any(tag.startswith("retry:attempt:") for tag in given.get("tags") or ()):
            _record_retry(call, _extract.runnable_name(serialized, given))
        return call

    def _begin_model_call(self, id: UUID, serialized: dict[str, Any] | None, given: dict[str, Any]) -> None:
        call = self._begin(id, serialized, given)
        for outer in call.ancestors():
            outer.called_model = True
        call.model = _extract.requested_model(given)
        call.start = call.run.event("llm_call_started", agent=call.agent, model=call.model)

    def _note_attempt(self, call: OpenCall, what: str, name: str | None) -> None:
        call.attempt = what
        if call.parent and what in call.parent.failed_attempts:
            _record_retry(call, name)

    def _record_end(self, call: OpenCall, type: str, **fields: Any) -> None:
        """Records the end of a tool or model call."""
        if call.tool is not None:
            fields.update(tool=call.tool, call_id=str(call.id))
        elapsed_ms = call.milliseconds()
        call.run.event(type, agent=call.agent, model=call.model, latency_ms=elapsed_ms, parent_event_id=call.start, **fields)

    def _failed(self, call: OpenCall, error: BaseException) -> None:
        """Records a failed attempt, and ends the run if the call owns it."""
        control_flow = _extract.is_control_flow(error)
        if call.attempt and call.parent and not control_flow and len(call.parent.failed_attempts) < _MAX_FAILED_ATTEMPTS:
            call.parent.failed_attempts.add(call.attempt)
        if not call.owns:
            return
        if control_flow:
            call.run.end()
        elif isinstance(error, (asyncio.CancelledError, GeneratorExit)):  # the caller left the stream
            call.run.end(status="cancelled")
        else:
            call.run.end(error=error)


def _record_retry(call: OpenCall, name: str | None) -> None:
    call.run.event("retry_triggered", agent=call.agent, name=name)


def _record_commands(call: OpenCall, nodes: list[str]) -> None:
    """Records commands from one node to another as handoffs. A node that only runs tools is not an agent."""
    graph = call.parent
    if call.node and call.called_tool and not call.called_model:
        if graph:
            graph.tool_nodes.add(call.node)
        return
    for to in nodes:
        if to != call.node and to not in call.handoffs and not (graph and to in graph.tool_nodes):
            _record_handoff(call, to)


def _record_handoff(call: OpenCall, to: str) -> None:
    call.run.event("handoff_started", agent=to, metadata={"from": call.agent})
    _mark_handed_over(call, [to])


def _mark_handed_over(call: OpenCall, to: list[str]) -> None:
    """Stores the handoff in all calls around it, so that the command that executes it is not recorded again."""
    call.handoffs.update(to)
    for outer in call.ancestors():
        outer.handoffs.update(to)
