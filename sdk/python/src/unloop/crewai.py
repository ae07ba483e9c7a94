"""unloop for CrewAI: a listener that tells the server what crews do, and with a guard acts.

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

from ._adapter import LONGEST, Notes, count, get, handoff, quietly, text, usage
from ._freeze import freeze
from ._run import Run, current_run
from ._unset import UNSET
from .guard import Decision, Guard, LoopError

_delegation = ("delegate_work_to_coworker", "ask_question_to_coworker")
_failure = "Error executing tool:"  # how CrewAI tells a model that a tool has failed


class _Kickoff(NamedTuple):
    run: Run
    active: AbstractContextManager[Run]


class _Call(NamedTuple):
    id: str
    input: dict[str, Any]
    began: float
    verdict: Decision | None


class Listener(BaseEventListener):
    """Tells unloop of crews and flows, model calls with their tokens, tools, delegation and errors; asks a guard about tools if
    it has one.

    A kickoff is a run; within unloop.trace(), and in a crew that another one or a flow starts, everything goes to the run that
    is there. A call that the guard refuses gets its answer in the place of a result, a warning is attached to the result, and
    where it ends the run kickoff() raises CrewAI's HookAborted, whose cause is a LoopError.
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self._guard = guard
        self._kickoffs: Notes[_Kickoff] = Notes()
        self._calls: Notes[_Call] = Notes()
        self._models: Notes[str] = Notes()
        self._over: weakref.WeakSet[Run] = weakref.WeakSet()
        # CrewAI calls these on the agent's own thread, in order; handlers of its events come from a pool, in any order.
        self._hooks: list[tuple[InterceptionPoint, Callable[[Any], Any]]] = [
            (InterceptionPoint.EXECUTION_START, quietly(self._began)),
            (InterceptionPoint.EXECUTION_END, quietly(self._ended)),
            (InterceptionPoint.PRE_TOOL_CALL, quietly(self._before)),
            (InterceptionPoint.POST_TOOL_CALL, self._after),
        ]
        for point, hook in self._hooks:
            register_hook(point, hook)
        self._handlers: list[tuple[type[Any], Callable[[Any, Any], None]]] = [
            (LLMCallStartedEvent, quietly(self._model_began)),
            (LLMCallCompletedEvent, quietly(self._model_answered)),
            (LLMCallFailedEvent, quietly(self._model_failed)),
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

    def _began(self, context: Any) -> None:
        outer, what = current_run(), context.crew or context.flow
        if outer is not None and outer not in self._over:
            return
        name = text(get(what, "name")) or type(what).__name__
        run = Run.begin(name, metadata=context.inputs or None)
        active = run.activate()
        active.__enter__()
        self._kickoffs[str(id(what))] = _Kickoff(run, active)

    def _ended(self, context: Any) -> None:
        kickoff = self._kickoffs.pop(str(id(context.crew or context.flow)), None)
        if kickoff is None:
            return
        crewai_event_bus.flush(timeout=2.0)  # as CrewAI does next; what its pool still holds belongs to the run
        self._over.add(kickoff.run)
        kickoff.active.__exit__(None, None, None)
        kickoff.run.end(error=context.error)

    def _before(self, context: ToolCallHookContext) -> bool | None:
        run = current_run()
        if run is None:
            return None
        call, given, role = secrets.token_hex(8), context.tool_input, _role(context)
        run.event("tool_call_started", agent=role, tool=context.tool_name, call_id=call, input=given)
        to = given.get("coworker") if context.tool_name in _delegation else handoff(context.tool_name, given)
        if to:
            run.event("handoff_started", agent=to, metadata={"from": role})
        verdict = None
        if self._guard is not None:
            verdict = self._guard.run(run.id).before(context.tool_name, given, id=call, agent=role)
        self._calls[str(id(given))] = _Call(call, given, time.monotonic(), verdict)
        return False if verdict is not None and verdict.stopped else None

    def _after(self, context: ToolCallHookContext) -> str | None:
        verdict = quietly(self._outcome)(context)
        if verdict is None:
            return None
        if verdict.action == "halt":
            raise HookAborted(verdict.message, source="unloop") from LoopError(verdict)
        if verdict.result is UNSET:
            return None
        return verdict.result if isinstance(verdict.result, str) else freeze(verdict.result, LONGEST)[0]

    def _outcome(self, context: ToolCallHookContext) -> Decision | None:
        run, call = current_run(), self._calls.pop(str(id(context.tool_input)), None)
        if run is None or call is None:
            return None
        tool, role, result = context.tool_name, _role(context), context.tool_result
        if call.verdict is not None and call.verdict.stopped:
            run.event("tool_call_blocked", agent=role, tool=tool, call_id=call.id, output=call.verdict.result)
            return call.verdict
        took = (time.monotonic() - call.began) * 1000
        error = result if isinstance(result, str) and result.startswith(_failure) else None
        if error is None:
            run.event("tool_call_completed", agent=role, tool=tool, call_id=call.id, output=result, latency_ms=took)
        else:
            run.event("tool_call_failed", agent=role, tool=tool, call_id=call.id, error=error, latency_ms=took)
        if self._guard is None:
            return None
        guard = self._guard.run(run.id)
        return guard.after(tool, call.input, result, id=call.id, agent=role, error=error, duration_ms=took)

    def _model_began(self, source: Any, event: LLMCallStartedEvent) -> None:
        run = current_run()
        if run is not None:
            self._models[event.call_id] = run.event(
                "llm_call_started", agent=event.agent_role, model=event.model, timestamp=event.timestamp
            )

    def _model_answered(self, source: Any, event: LLMCallCompletedEvent) -> None:
        run, start = current_run(), self._models.pop(event.call_id, None)
        if run is None:
            return
        prompt, answer = get(event.usage, "prompt_tokens"), get(event.usage, "completion_tokens")
        run.event(
            "llm_call_completed",
            agent=event.agent_role,
            model=event.model,
            tokens=count(get(event.usage, "total_tokens")) or count(prompt, answer) or None,
            usage=usage(prompt, answer, get(event.usage, "cached_prompt_tokens")),
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
