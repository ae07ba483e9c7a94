"""unloop for the OpenAI Agents SDK.

Recorder tells the server what the SDK's own traces tell: add_trace_processor(Recorder()). LoopGuard stands before and after
each tool as the SDK's tool guardrails: LoopGuard().protect(agent). Each works without the other.
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

from ._adapter import LONGEST, Notes, arguments, count, get, items, openai_usage, quietly, text, unread
from ._freeze import freeze
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision

AnyAgent = TypeVar("AnyAgent", bound=Agent[Any])


@dataclasses.dataclass
class _Seen:
    """What a guard saw of a call. A trace has only what the model was given, with the warning in it."""

    output: Any
    refused: bool
    halted: str  # why the run ends here, "" if it goes on


_seen: Notes[_Seen] = Notes()


class Recorder(TracingProcessor):
    """Tells unloop of agents, model calls with their tokens, tools, handoffs and errors.

    A trace is a run, named by its group_id where there is one, so that the traces of one conversation are one run. Within
    unloop.trace(), everything goes to that run. A call is told when it ends: before, its arguments are not known.
    """

    exists = False

    def __init__(self) -> None:
        Recorder.exists = True
        self._runs: Notes[tuple[Run, bool]] = Notes()
        self._agents: Notes[str] = Notes()
        self._calls: Notes[str] = Notes()
        self._failed: Notes[str] = Notes()

    @quietly
    def on_trace_start(self, trace: Trace) -> None:
        told = trace.export() or {}
        run = current_run()
        if run is not None:
            self._runs[trace.trace_id] = run, False
            return
        name = text(told.get("group_id")) or trace.trace_id
        self._runs[trace.trace_id] = Run.begin(trace.name, id=name, metadata=told.get("metadata")), True

    @quietly
    def on_trace_end(self, trace: Trace) -> None:
        run, own = self._runs.pop(trace.trace_id, (None, False))
        error = self._failed.pop(trace.trace_id, None)
        if run is not None and own:
            run.end(error=error)

    @quietly
    def on_span_start(self, span: Span[Any]) -> None:
        run = self._run(span)
        if run is None:
            return
        data = span.span_data
        self._agents[span.span_id] = data.name if isinstance(data, AgentSpanData) else self._agent(span)
        if isinstance(data, (GenerationSpanData, ResponseSpanData)):
            self._calls[span.span_id] = run.event("llm_call_started", agent=self._agent(span), model=get(data, "model"))

    @quietly
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
            self._failed.setdefault(span.trace_id, _wording(span))

    def _tool(self, run: Run, span: Span[Any], data: FunctionSpanData, agent: str) -> None:
        call, tool, given = span.span_id, data.name, arguments(data.input)
        seen = _seen.pop(span.span_id, None) or _Seen(data.output, False, "")
        start = run.event(
            "tool_call_started", agent=agent, tool=tool, call_id=call, input=given, timestamp=_time(span.started_at)
        )
        if seen.halted:
            self._failed[span.trace_id] = seen.halted
        if span.error and not seen.refused and not seen.halted:
            kind, told = "tool_call_failed", dict[str, Any](error=text(seen.output) or _wording(span))
        else:
            kind, told = "tool_call_blocked" if seen.refused else "tool_call_completed", {"output": seen.output}
        run.event(kind, agent=agent, tool=tool, call_id=call, parent_event_id=start, **told)

    def _model(self, run: Run, span: Span[Any], data: GenerationSpanData | ResponseSpanData, agent: str) -> None:
        model = text(get(data, "model")) or text(get(data, "response", "model"))
        start = self._calls.pop(span.span_id, None)
        if isinstance(last := (items(data.input) or [data.input])[-1], str) or get(last, "role") == "user":
            run.event("message", role="user", text=text(last) or text(get(last, "content")))
        if span.error:
            run.event("llm_call_failed", agent=agent, model=model, error=_wording(span), parent_event_id=start)
            return
        told = data.usage or get(data, "response", "usage")
        sides = count(get(told, "input_tokens"), get(told, "output_tokens"))
        run.event(
            "llm_call_completed",
            agent=agent,
            model=model,
            tokens=count(get(told, "total_tokens")) or sides or None,
            usage=openai_usage(told),
            parent_event_id=start,
        )

    def _run(self, span: Span[Any]) -> Run | None:
        found = self._runs.get(span.trace_id)
        return found[0] if found else None

    def _agent(self, span: Span[Any]) -> str:
        return self._agents.get(span.parent_id or "", "")

    def force_flush(self) -> None:
        """Nothing waits here."""

    def shutdown(self) -> None:
        """Nothing waits here."""


class LoopGuard:
    """Asks a guard before and after each tool call; the runs of one LoopGuard share nothing.

    A call that is refused gets the guard's answer in the place of a result. A warning is attached to the result. Where the guard
    ends the run, the SDK raises ToolInputGuardrailTripwireTriggered or its sister for outputs, with the Decision as its
    output.output_info.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        self._guard = AsyncGuard() if guard is None else guard
        self._names: Notes[tuple[weakref.ref[Any], str]] = Notes()
        self.input: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, name="unloop")
        self.output: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, name="unloop")

    def protect(self, agent: AnyAgent) -> AnyAgent:
        """Puts the guard around the function tools and the MCP servers of the agent, and of the agents that it hands over to.

        It returns the same agent. A tool that several agents share is guarded once.
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
            decision = await self._guard.run(self._name(call.usage)).before(
                call.tool_name, arguments(call.tool_arguments), id=call.tool_call_id, agent=data.agent.name
            )
            if decision.stopped:
                _note(_Seen(decision.result, True, decision.message if decision.action == "halt" else ""))
            return _answer(decision)
        except Exception as error:
            unread(LoopGuard._before, error)
            return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
        call = data.context
        try:
            decision = await self._guard.run(self._name(call.usage)).after(
                call.tool_name,
                arguments(call.tool_arguments),
                data.output,
                id=call.tool_call_id,
                agent=data.agent.name,
            )
            _note(_Seen(data.output, False, decision.message if decision.action == "halt" else ""))
            if decision.action != "halt" and _is_media(data.output):
                return ToolGuardrailFunctionOutput.allow(decision)  # a picture and a text cannot be one result
            return _answer(decision)
        except Exception as error:
            unread(LoopGuard._after, error)
            return ToolGuardrailFunctionOutput.allow()

    def _name(self, usage: Any) -> str:
        """Returns the name of the run that a call belongs to: where there is none, and no trace, one for each Runner.run."""
        run, trace = current_run(), get_current_trace()
        if run is not None:
            return run.id
        if trace is not None and trace.export() is not None:
            return trace.trace_id
        known = self._names.get(str(id(usage)))
        if known is None or known[0]() is not usage:
            known = self._names[str(id(usage))] = weakref.ref(usage), uuid.uuid4().hex
        return known[1]


def _answer(decision: Decision) -> ToolGuardrailFunctionOutput:
    if decision.action == "halt":
        return ToolGuardrailFunctionOutput.raise_exception(decision)
    if decision.result is UNSET:
        return ToolGuardrailFunctionOutput.allow(decision)
    result = decision.result
    told = result if isinstance(result, str) else freeze(result, LONGEST)[0]
    return ToolGuardrailFunctionOutput.reject_content(told, decision)


def _note(seen: _Seen) -> None:
    span = get_current_span()
    if Recorder.exists and span is not None and isinstance(span.span_data, FunctionSpanData):
        _seen[span.span_id] = seen


def _is_media(output: Any) -> bool:
    parts = items(output) or [output]
    return any(isinstance(part, (ToolOutputImage, ToolOutputFileContent)) for part in parts)


def _time(text: str | None) -> datetime.datetime | None:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def _wording(span: Span[Any]) -> str:
    """Returns what a span says of its error: the data has the tool's own words."""
    said = text(get(span.error, "message")) or "error"
    why = get(span.error, "data", "error")
    return f"{said}: {why}" if isinstance(why, str) and why else said
