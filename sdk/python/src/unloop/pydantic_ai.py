"""unloop for Pydantic AI: a capability that tells the server what an agent does, and with a guard acts.

agent = Agent(model, capabilities=[Unloop(AsyncGuard())])
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from pydantic import ValidationError
from pydantic_ai import ModelRetry, RunContext, ToolFailed, ToolReturn
from pydantic_ai.agent import AgentRunResult
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    ApprovalRequired,
    CallDeferred,
    SkipToolExecution,
    SkipToolValidation,
    ToolFailedError,
    ToolRetryError,
)
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import ToolDefinition

from ._adapter import arguments, count, handoff, quietly, unread, usage
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError

_control = (CallDeferred, ApprovalRequired, SkipToolExecution, SkipToolValidation)  # raised, and yet no failures
_within: ContextVar[bool] = ContextVar("unloop_pydantic_ai", default=False)


@dataclasses.dataclass
class Unloop(AbstractCapability[Any]):
    """Tells unloop of runs, model calls with their tokens, tools, handoffs and errors; asks a guard about tools if it has one.

    The conversation's id names the run; within unloop.trace(), and in an agent that another one calls, everything goes to the
    run that is there. A call that the guard refuses gets its answer in the place of a result, a warning is attached to the
    result, and where it ends the run LoopError is raised.
    """

    guard: AsyncGuard | None = None

    async def wrap_run(
        self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[AgentRunResult[Any]]]
    ) -> AgentRunResult[Any]:
        outer, first = current_run(), not _within.get()
        run = outer or Run.begin(_agent(ctx) or "agent", id=ctx.conversation_id or ctx.run_id)
        if first:
            await self._asked(run, ctx)
        within = _within.set(True)
        try:
            with run.activate():
                result = await handler()
        except BaseException as error:
            if outer is None:
                run.end(error=error)
            raise
        finally:
            _within.reset(within)
        if outer is None:
            run.end()
        return result

    async def wrap_model_request(
        self,
        ctx: RunContext[Any],
        *,
        request_context: ModelRequestContext,
        handler: Callable[[ModelRequestContext], Awaitable[ModelResponse]],
    ) -> ModelResponse:
        run = current_run()
        if run is None:
            return await handler(request_context)
        model, agent, began = request_context.model.model_name, _agent(ctx), time.monotonic()
        start = run.event("llm_call_started", agent=agent, model=model)
        try:
            response = await handler(request_context)
        except BaseException as error:
            run.event("llm_call_failed", agent=agent, model=model, error=error, parent_event_id=start)
            raise
        _answered(run, response, agent, start, (time.monotonic() - began) * 1000)
        return response

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        handler: Callable[[str | dict[str, Any]], Awaitable[dict[str, Any]]],
    ) -> dict[str, Any]:
        """A call whose arguments are refused does not run; the model is told, and that can go on for long, too."""
        try:
            return await handler(args)
        except _control:
            raise
        except Exception as error:
            told = _Call(current_run(), call, _agent(ctx))
            told.event("tool_call_started", input=told.given)
            told.event("tool_call_failed", error=_wording(error))
            verdict = await self._before(told)
            if verdict is None or not verdict.stopped:
                verdict = await self._after(told, error=_wording(error))
            _pass(error, verdict, (ValidationError, ToolRetryError, ModelRetry))
            raise

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        told = _Call(current_run(), call, _agent(ctx))
        told.event("tool_call_started", input=told.given)
        verdict = await self._before(told)
        if verdict is not None and verdict.stopped:
            told.event("tool_call_blocked", output=verdict.result)
            _halt(verdict)
            return verdict.result
        began = time.monotonic()
        try:
            result = await handler(args)
        except _control:
            raise
        except Exception as error:
            told.event("tool_call_failed", error=_wording(error), latency_ms=(time.monotonic() - began) * 1000)
            _pass(error, await self._after(told, error=_wording(error)), (ToolRetryError, ModelRetry))
            raise
        value = result.return_value if isinstance(result, ToolReturn) else result
        told.event("tool_call_completed", output=value, latency_ms=(time.monotonic() - began) * 1000)
        verdict = await self._after(told, value)
        _halt(verdict)
        if verdict is None or verdict.result is UNSET:
            return result
        if isinstance(result, ToolReturn):
            return dataclasses.replace(result, return_value=verdict.result)
        return verdict.result

    async def _asked(self, run: Run, ctx: RunContext[Any]) -> None:
        if not isinstance(ctx.prompt, str):
            return
        run.event("message", role="user", text=ctx.prompt)
        if self.guard is not None:
            try:
                await self.guard.run(run.id).user(ctx.prompt)
            except Exception as error:
                unread(Unloop._asked, error)

    async def _before(self, told: _Call) -> Decision | None:
        if self.guard is None or told.run is None:
            return None
        try:
            return await self.guard.run(told.run.id).before(told.tool, told.given, id=told.id, agent=told.agent)
        except Exception as error:
            unread(Unloop._before, error)
            return None

    async def _after(self, told: _Call, result: object = UNSET, error: str | None = None) -> Decision | None:
        if self.guard is None or told.run is None:
            return None
        try:
            guard = self.guard.run(told.run.id)
            return await guard.after(told.tool, told.given, result, id=told.id, agent=told.agent, error=error)
        except Exception as fault:
            unread(Unloop._after, fault)
            return None


class _Call:
    """A call of a tool, and whom to tell of it."""

    def __init__(self, run: Run | None, call: ToolCallPart, agent: str | None) -> None:
        self.run, self.tool, self.id, self.agent = run, call.tool_name, call.tool_call_id, agent
        self.given = arguments(call.args or {})
        self.to = handoff(call.tool_name, self.given)

    @quietly
    def event(self, type: str, **fields: Any) -> None:
        if self.run is None:
            return
        if not self.to:
            self.run.event(type, agent=self.agent, tool=self.tool, call_id=self.id, **fields)
        elif type == "tool_call_started":
            self.run.event("handoff_started", agent=self.to, metadata={"from": self.agent})


def _agent(ctx: RunContext[Any]) -> str | None:
    return ctx.agent.name if ctx.agent is not None else None


@quietly
def _answered(run: Run, response: ModelResponse, agent: str | None, start: str, latency: float) -> None:
    told = response.usage
    run.event(
        "llm_call_completed",
        agent=agent,
        model=response.model_name,
        tokens=count(told.input_tokens, told.output_tokens) or None,
        usage=usage(told.input_tokens, told.output_tokens, told.cache_read_tokens, told.cache_write_tokens),
        latency_ms=latency,
        parent_event_id=start,
    )
    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if said:
        run.event("message", role="assistant", agent=agent, text=said)


def _wording(error: Exception) -> str:
    """Returns what the model is told of an error, where that is known."""
    part = error.tool_retry if isinstance(error, ToolRetryError) else None
    said = getattr(part, "content", None) or getattr(error, "message", None)
    return said if isinstance(said, str) else f"{type(error).__name__}: {error}"


def _halt(verdict: Decision | None) -> None:
    if verdict is not None and verdict.action == "halt":
        raise LoopError(verdict)


def _pass(error: Exception, verdict: Decision | None, tried_again: tuple[type[Exception], ...]) -> None:
    """Has an error that the model is told of say what the guard has to say."""
    _halt(verdict)
    told = verdict.result if verdict is not None else UNSET
    told = told.get("error") if isinstance(told, dict) else told
    if isinstance(told, str) and isinstance(error, tried_again):
        raise ModelRetry(told) from error
    if isinstance(told, str) and isinstance(error, (ToolFailedError, ToolFailed)):
        raise ToolFailed(told) from error
