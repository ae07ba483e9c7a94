"""unloop for CrewAI: a listener that records crews on the server and, with a guard, stops loops.

Listener(Guard())      # once, before the first kickoff
"""

from __future__ import annotations

import secrets
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from crewai.events import BaseEventListener, crewai_event_bus
from crewai.events.event_bus import CrewAIEventsBus
from crewai.events.types.llm_events import LLMCallCompletedEvent, LLMCallFailedEvent, LLMCallStartedEvent
from crewai.hooks import HookAborted, InterceptionPoint, ToolCallHookContext, register_hook, unregister_hook

from ._adapter import MAX_TEXT, BoundedDict, count, get, handoff, never_raises, text, usage
from ._run import Run, current_run
from ._serialize import serialize
from ._unset import UNSET
from .guard import Decision, Guard, LoopError

_DELEGATION_TOOLS = ("delegate_work_to_coworker", "ask_question_to_coworker")
_FAILURE_PREFIX = "Error executing tool:"  # start of CrewAI's result for a failed tool


class _Kickoff(NamedTuple):
    run: Run
    active: AbstractContextManager[Run]


class _Call(NamedTuple):
    id: str
    input: dict[str, Any]
    started_at: float
    decision: Decision | None


class Listener(BaseEventListener):
    """Records crews and flows, model calls with their tokens, tool calls, delegation and errors. With a guard it decides about
    tool calls.

    A kickoff is a run. Within unloop.trace(), and in a crew that another crew or a flow starts, events belong to the current
    run. A blocked call returns the guard's answer as its result. A warning is attached to the result. On a halt, kickoff()
    raises CrewAI's HookAborted, whose cause is a LoopError.
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self._guard = guard
        self._kickoffs: BoundedDict[_Kickoff] = BoundedDict()
        self._calls: BoundedDict[_Call] = BoundedDict()
        self._models: BoundedDict[str] = BoundedDict()
        self._ended_runs: weakref.WeakSet[Run] = weakref.WeakSet()
        # CrewAI calls hooks in order on the agent's thread. It calls event handlers from a pool, in any order.
        self._hooks: list[tuple[InterceptionPoint, Callable[[Any], Any]]] = [
            (InterceptionPoint.EXECUTION_START, never_raises(self._kickoff_started)),
            (InterceptionPoint.EXECUTION_END, never_raises(self._kickoff_ended)),
            (InterceptionPoint.PRE_TOOL_CALL, never_raises(self._before_tool)),
            (InterceptionPoint.POST_TOOL_CALL, self._after_tool),
        ]
        for point, hook in self._hooks:
            register_hook(point, hook)
        self._handlers: list[tuple[type[Any], Callable[[Any, Any], None]]] = [
            (LLMCallStartedEvent, never_raises(self._model_started)),
            (LLMCallCompletedEvent, never_raises(self._model_completed)),
            (LLMCallFailedEvent, never_raises(self._model_failed)),
        ]
        super().__init__()

    def setup_listeners(self, crewai_event_bus: CrewAIEventsBus) -> None:
        for event, handler in self._handlers:
            crewai_event_bus.on(event)(handler)

    def close(self) -> None:
        """Stops listening."""
        for point, hook in self._hooks:
            unregister_hook(point, hook)
        for event, handler in self._handlers:
            crewai_event_bus.off(event, handler)

    def _kickoff_started(self, context: Any) -> None:
        outer, kickoff = current_run(), context.crew or context.flow
        if outer is not None and outer not in self._ended_runs:
            return
        name = text(get(kickoff, "name")) or type(kickoff).__name__
        run = Run.begin(name, metadata=context.inputs or None)
        active = run.activate()
        active.__enter__()
        self._kickoffs[str(id(kickoff))] = _Kickoff(run, active)

    def _kickoff_ended(self, context: Any) -> None:
        kickoff = self._kickoffs.pop(str(id(context.crew or context.flow)), None)
        if kickoff is None:
            return
        crewai_event_bus.flush(timeout=2.0)  # as CrewAI does next: events in its pool belong to this run
        self._ended_runs.add(kickoff.run)
        kickoff.active.__exit__(None, None, None)
        kickoff.run.end(error=context.error)

    def _before_tool(self, context: ToolCallHookContext) -> bool | None:
        run = current_run()
        if run is None:
            return None
        call, args, role = secrets.token_hex(8), context.tool_input, _role(context)
        run.event("tool_call_started", agent=role, tool=context.tool_name, call_id=call, input=args)
        to = args.get("coworker") if context.tool_name in _DELEGATION_TOOLS else handoff(context.tool_name, args)
        if to:
            run.event("handoff_started", agent=to, metadata={"from": role})
        decision = None
        if self._guard is not None:
            decision = self._guard.run(run.id).before(context.tool_name, args, id=call, agent=role)
        self._calls[str(id(args))] = _Call(call, args, time.monotonic(), decision)
        return False if decision is not None and decision.stopped else None

    def _after_tool(self, context: ToolCallHookContext) -> str | None:
        decision = never_raises(self._record_result)(context)
        if decision is None:
            return None
        if decision.action == "halt":
            raise HookAborted(decision.message, source="unloop") from LoopError(decision)
        if decision.result is UNSET:
            return None
        return decision.result if isinstance(decision.result, str) else serialize(decision.result, MAX_TEXT)[0]

    def _record_result(self, context: ToolCallHookContext) -> Decision | None:
        run, call = current_run(), self._calls.pop(str(id(context.tool_input)), None)
        if run is None or call is None:
            return None
        tool, role, result = context.tool_name, _role(context), context.tool_result
        if call.decision is not None and call.decision.stopped:
            run.event("tool_call_blocked", agent=role, tool=tool, call_id=call.id, output=call.decision.result)
            return call.decision
        elapsed_ms = (time.monotonic() - call.started_at) * 1000
        error = result if isinstance(result, str) and result.startswith(_FAILURE_PREFIX) else None
        if error is None:
            run.event("tool_call_completed", agent=role, tool=tool, call_id=call.id, output=result, latency_ms=elapsed_ms)
        else:
            run.event("tool_call_failed", agent=role, tool=tool, call_id=call.id, error=error, latency_ms=elapsed_ms)
        if self._guard is None:
            return None
        guard = self._guard.run(run.id)
        return guard.after(tool, call.input, result, id=call.id, agent=role, error=error, duration_ms=elapsed_ms)

    def _model_started(self, source: Any, event: LLMCallStartedEvent) -> None:
        run = current_run()
        if run is not None:
            self._models[event.call_id] = run.event(
                "llm_call_started", agent=event.agent_role, model=event.model, timestamp=event.timestamp
            )

    def _model_completed(self, source: Any, event: LLMCallCompletedEvent) -> None:
        run, start = current_run(), self._models.pop(event.call_id, None)
        if run is None:
            return
        prompt, answer = get(event.usage, "prompt_tokens"), get(event.usage, "completion_tokens")
        run.event(
            "llm_call_completed",
            agent=event.agent_role,
            model=event.model,
            tokens=count(get(event.usage, "total_tokens")) or count(prompt, answer) or None,
            usage=usage(
                prompt,
                answer,
                get(event.usage, "cached_prompt_tokens"),
                get(event.usage, "cache_creation_tokens"),
                get(event.usage, "reasoning_tokens"),
            ),
            parent_event_id=start,
            timestamp=event.timestamp,
        )

    def _model_failed(self, source: Any, event: LLMCallFailedEvent) -> None:
        run, start = current_run(), self._models.pop(event.call_id, None)
        if run is not None:
            run.event(
                "llm_call_failed",
                agent=event.agent_role,
                model=event.model,
                error=event.error,
                parent_event_id=start,
                timestamp=event.timestamp,
            )


def _role(context: ToolCallHookContext) -> str | None:
    return text(get(context.agent, "role")).strip() or None
