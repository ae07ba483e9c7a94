"""unloop for the OpenAI Agents SDK.

Recorder sends the SDK's traces to the server: add_trace_processor(Recorder()). LoopGuard guards each tool call with the SDK's
tool guardrails: LoopGuard().protect(agent). Each works without the other.
"""

from __future__ import annotations

import dataclasses
import datetime
import uuid
import weakref
from typing import Any, TypeVar

from agents import (
    Agent,
    FunctionTool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolOutputFileContent,
    ToolOutputGuardrail,
    ToolOutputImage,
)
from agents.tool_guardrails import ToolInputGuardrailData, ToolOutputGuardrailData
from agents.tracing import (
    AgentSpanData,
    FunctionSpanData,
    GenerationSpanData,
    HandoffSpanData,
    ResponseSpanData,
    Span,
    Trace,
    TracingProcessor,
    get_current_span,
    get_current_trace,
)

from ._adapter import MAX_TEXT, BoundedDict, arguments, count, get, items, log_unread, never_raises, openai_usage, text
from ._run import Run, current_run
from ._serialize import serialize
from ._unset import UNSET
from .guard import AsyncGuard, Decision

AnyAgent = TypeVar("AnyAgent", bound=Agent[Any])


@dataclasses.dataclass
class _GuardedCall:
    """A call as the guard saw it. The trace contains only the result for the model, which includes the warning."""

    output: Any
    blocked: bool
    halted: str  # why the run ends, or "" if it continues


_guarded_calls: BoundedDict[_GuardedCall] = BoundedDict()


class Recorder(TracingProcessor):
    """Records agents, model calls with their tokens, tool calls, handoffs and errors.

    Each trace is a run. The run's id is the trace's group_id if it is set, so that all traces of a conversation are one run.
    Within unloop.trace(), events belong to that run. A tool call is recorded when it ends, because its arguments are unknown
    before.
    """

    exists = False

    def __init__(self) -> None:
        Recorder.exists = True
        self._runs: BoundedDict[tuple[Run, bool]] = BoundedDict()
        self._agents: BoundedDict[str] = BoundedDict()
        self._calls: BoundedDict[str] = BoundedDict()
        self._failed: BoundedDict[str] = BoundedDict()

    @never_raises
    def on_trace_start(self, trace: Trace) -> None:
        exported = trace.export() or {}
        run = current_run()
        if run is not None:
            self._runs[trace.trace_id] = run, False
            return
        name = text(exported.get("group_id")) or trace.trace_id
        self._runs[trace.trace_id] = Run.begin(trace.name, id=name, metadata=exported.get("metadata")), True

    @never_raises
    def on_trace_end(self, trace: Trace) -> None:
        run, own = self._runs.pop(trace.trace_id, (None, False))
        error = self._failed.pop(trace.trace_id, None)
        if run is not None and own:
            run.end(error=error)

    @never_raises
    def on_span_start(self, span: Span[Any]) -> None:
        run = self._run(span)
        if run is None:
            return
        data = span.span_data
        self._agents[span.span_id] = data.name if isinstance(data, AgentSpanData) else self._agent(span)
        if isinstance(data, (GenerationSpanData, ResponseSpanData)):
            self._calls[span.span_id] = run.event("llm_call_started", agent=self._agent(span), model=get(data, "model"))

    @never_raises
    def on_span_end(self, span: Span[Any]) -> None:
        run, data = self._run(span), span.span_data
        agent = self._agents.pop(span.span_id, "")
        if run is None:
            return
        if isinstance(data, FunctionSpanData):
            self._tool(run, span, data, agent)
        elif isinstance(data, (GenerationSpanData, ResponseSpanData)):
            self._model(run, span, data, agent)
        elif isinstance(data, HandoffSpanData) and data.to_agent:
            run.event("handoff_started", agent=data.to_agent, metadata={"from": data.from_agent})
        elif isinstance(data, AgentSpanData) and span.error:
            self._failed.setdefault(span.trace_id, _error_text(span))

    def _tool(self, run: Run, span: Span[Any], data: FunctionSpanData, agent: str) -> None:
        call, tool, args = span.span_id, data.name, arguments(data.input)
        guarded = _guarded_calls.pop(span.span_id, None) or _GuardedCall(data.output, False, "")
        start = run.event("tool_call_started", agent=agent, tool=tool, call_id=call, input=args, timestamp=_time(span.started_at))
        if guarded.halted:
            self._failed[span.trace_id] = guarded.halted
        if span.error and not guarded.blocked and not guarded.halted:
            kind, outcome = "tool_call_failed", dict[str, Any](error=text(guarded.output) or _error_text(span))
        else:
            kind, outcome = "tool_call_blocked" if guarded.blocked else "tool_call_completed", {"output": guarded.output}
        run.event(kind, agent=agent, tool=tool, call_id=call, parent_event_id=start, **outcome)

    def _model(self, run: Run, span: Span[Any], data: GenerationSpanData | ResponseSpanData, agent: str) -> None:
        model = text(get(data, "model")) or text(get(data, "response", "model"))
        start = self._calls.pop(span.span_id, None)
        if isinstance(last := (items(data.input) or [data.input])[-1], str) or get(last, "role") == "user":
            run.event("message", role="user", text=text(last) or text(get(last, "content")))
        if span.error:
            run.event("llm_call_failed", agent=agent, model=model, error=_error_text(span), parent_event_id=start)
            return
        usage_data = data.usage or get(data, "response", "usage")
        sides = count(get(usage_data, "input_tokens"), get(usage_data, "output_tokens"))
        run.event(
            "llm_call_completed",
            agent=agent,
            model=model,
            tokens=count(get(usage_data, "total_tokens")) or sides or None,
            usage=openai_usage(usage_data),
            parent_event_id=start,
        )

    def _run(self, span: Span[Any]) -> Run | None:
        found = self._runs.get(span.trace_id)
        return found[0] if found else None

    def _agent(self, span: Span[Any]) -> str:
        return self._agents.get(span.parent_id or "", "")

    def force_flush(self) -> None:
        """Does nothing: events are not buffered here."""

    def shutdown(self) -> None:
        """Does nothing: events are not buffered here."""


class LoopGuard:
    """Guards each tool call. The runs of one LoopGuard are judged separately.

    A blocked call returns the guard's answer as its result. A warning is attached to the result. On a halt the SDK raises
    ToolInputGuardrailTripwireTriggered or ToolOutputGuardrailTripwireTriggered, with the Decision as its output.output_info.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        self._guard = AsyncGuard() if guard is None else guard
        self._run_names: BoundedDict[tuple[weakref.ref[Any], str]] = BoundedDict()
        self.input: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, name="unloop")
        self.output: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, name="unloop")

    def protect(self, agent: AnyAgent) -> AnyAgent:
        """Adds the guard to the function tools and MCP servers of the agent, and of all agents that it hands over to.

        It returns the same agent. A tool that several agents share gets the guard once.
        """
        self._protect(agent, set())
        return agent

    def _protect(self, agent: Any, done: set[int]) -> None:
        if id(agent) in done:
            return
        done.add(id(agent))
        tools = [tool for tool in items(get(agent, "tools")) if isinstance(tool, FunctionTool)]
        for one in [*tools, *items(get(agent, "mcp_servers"))]:
            before, after = one.tool_input_guardrails or [], one.tool_output_guardrails or []
            if self.input not in before:
                one.tool_input_guardrails = [*before, self.input]
                one.tool_output_guardrails = [*after, self.output]
        for other in items(get(agent, "handoffs")):
            if isinstance(other, Agent):
                self._protect(other, done)

    async def _before(self, data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        try:
            decision = await self._guard.run(self._run_name(call.usage)).before(
                call.tool_name, arguments(call.tool_arguments), id=call.tool_call_id, agent=data.agent.name
            )
            if decision.stopped:
                _remember(_GuardedCall(decision.result, True, decision.message if decision.action == "halt" else ""))
            return _answer(decision)
        except Exception as error:
            log_unread(LoopGuard._before, error)
            return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        try:
            decision = await self._guard.run(self._run_name(call.usage)).after(
                call.tool_name,
                arguments(call.tool_arguments),
                data.output,
                id=call.tool_call_id,
                agent=data.agent.name,
            )
            _remember(_GuardedCall(data.output, False, decision.message if decision.action == "halt" else ""))
            if decision.action != "halt" and _is_media(data.output):
                return ToolGuardrailFunctionOutput.allow(decision)  # a result cannot hold both an image or file and a text
            return _answer(decision)
        except Exception as error:
            log_unread(LoopGuard._after, error)
            return ToolGuardrailFunctionOutput.allow()

    def _run_name(self, usage: Any) -> str:
        """Returns the run id of a call: the current run, else the trace, else a random id per Runner.run."""
        run, trace = current_run(), get_current_trace()
        if run is not None:
            return run.id
        if trace is not None and trace.export() is not None:
            return trace.trace_id
        known = self._run_names.get(str(id(usage)))
        if known is None or known[0]() is not usage:
            known = self._run_names[str(id(usage))] = weakref.ref(usage), uuid.uuid4().hex
        return known[1]


def _answer(decision: Decision) -> ToolGuardrailFunctionOutput:
    if decision.action == "halt":
        return ToolGuardrailFunctionOutput.raise_exception(decision)
    if decision.result is UNSET:
        return ToolGuardrailFunctionOutput.allow(decision)
    result = decision.result
    content = result if isinstance(result, str) else serialize(result, MAX_TEXT)[0]
    return ToolGuardrailFunctionOutput.reject_content(content, decision)


def _remember(guarded: _GuardedCall) -> None:
    span = get_current_span()
    if Recorder.exists and span is not None and isinstance(span.span_data, FunctionSpanData):
        _guarded_calls[span.span_id] = guarded


def _is_media(output: Any) -> bool:
    parts = items(output) or [output]
    return any(isinstance(part, (ToolOutputImage, ToolOutputFileContent)) for part in parts)


def _time(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def _error_text(span: Span[Any]) -> str:
    """Returns the text of a span's error, with the tool's own text from its data."""
    message = text(get(span.error, "message")) or "error"
    reason = get(span.error, "data", "error")
    return f"{message}: {reason}" if isinstance(reason, str) and reason else message
