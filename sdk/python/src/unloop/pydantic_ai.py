"""unloop for Pydantic AI: a capability that records an agent's runs on the server and, with a guard, stops loops.

agent = Agent(model, capabilities=[Unloop(AsyncGuard())])
"""

from __future__ import annotations

import asyncio
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

from ._adapter import arguments, count, handoff, log_unread, never_raises, usage
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError
from .guard._threads import CANCELLED, in_thread_to_its_end

_CONTROL_FLOW = (CallDeferred, ApprovalRequired, SkipToolExecution, SkipToolValidation)  # exceptions that are not failures
_in_agent: ContextVar[bool] = ContextVar("unloop_pydantic_ai", default=False)


@dataclasses.dataclass
class Unloop(AbstractCapability[Any]):
    """Records runs, model calls with their tokens, tool calls, handoffs and errors. With a guard it decides about tool calls.

    The id of the run is the conversation_id. Within unloop.trace(), and in an agent that another agent calls, events belong to
    the current run. A blocked call returns the guard's answer as its result. A warning is attached to the result. A halt
    raises LoopError.
    """

    guard: AsyncGuard | None = None

    async def wrap_run(
        self, ctx: RunContext[Any], *, handler: Callable[[], Awaitable[AgentRunResult[Any]]]
    ) -> AgentRunResult[Any]:
        outer, first = current_run(), not _in_agent.get()
        run = outer or Run.begin(_agent(ctx) or "agent", id=ctx.conversation_id or ctx.run_id)
        if first:
            await self._record_prompt(run, ctx)
        token = _in_agent.set(True)
        try:
            with run.activate():
                result = await handler()
        except BaseException as error:
            if outer is None:
                run.end(error=error)
            raise
        finally:
            _in_agent.reset(token)
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
        model, agent, started_at = request_context.model.model_name, _agent(ctx), time.monotonic()
        start = run.event("llm_call_started", agent=agent, model=model)
        try:
            response = await handler(request_context)
        except BaseException as error:
            run.event("llm_call_failed", agent=agent, model=model, error=error, parent_event_id=start)
            raise
        _record_response(run, response, agent, start, (time.monotonic() - started_at) * 1000)
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
        """Records a call with invalid arguments. It does not run, but a model that repeats it is looping."""
        try:
            return await handler(args)
        except _CONTROL_FLOW:
            raise
        except Exception as error:
            tool_call = _Call(current_run(), call, _agent(ctx))
            tool_call.event("tool_call_started", input=tool_call.args)
            tool_call.event("tool_call_failed", error=_error_text(error))
            decision = await self._before(tool_call)
            if decision is None or not decision.stopped:
                decision = await self._after(tool_call, error=_error_text(error))
            _raise_with_nudge(error, decision, (ValidationError, ToolRetryError, ModelRetry))
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
        tool_call = _Call(current_run(), call, _agent(ctx))
        tool_call.event("tool_call_started", input=tool_call.args)
        decision = await self._before(tool_call)
        if decision is not None and decision.stopped:
            tool_call.event("tool_call_blocked", output=decision.result)
            _raise_if_halted(decision)
            return decision.result
        started_at = time.monotonic()
        try:
            result = await handler(args)
        except _CONTROL_FLOW:
            raise
        except asyncio.CancelledError:
            tool_call.event("tool_call_failed", error=CANCELLED, latency_ms=(time.monotonic() - started_at) * 1000)
            await self._after_cancelled(tool_call)
            raise
        except Exception as error:
            tool_call.event("tool_call_failed", error=_error_text(error), latency_ms=(time.monotonic() - started_at) * 1000)
            _raise_with_nudge(error, await self._after(tool_call, error=_error_text(error)), (ToolRetryError, ModelRetry))
            raise
        value = result.return_value if isinstance(result, ToolReturn) else result
        tool_call.event("tool_call_completed", output=value, latency_ms=(time.monotonic() - started_at) * 1000)
        decision = await self._after(tool_call, value)
        _raise_if_halted(decision)
        if decision is None or decision.result is UNSET:
            return result
        if isinstance(result, ToolReturn):
            return dataclasses.replace(result, return_value=decision.result)
        return decision.result

    async def _record_prompt(self, run: Run, ctx: RunContext[Any]) -> None:
        if not isinstance(ctx.prompt, str):
            return
        run.event("message", role="user", text=ctx.prompt)
        if self.guard is not None:
            try:
                await self.guard.run(run.id).user(ctx.prompt)
            except Exception as error:
                log_unread(Unloop._record_prompt, error)

    async def _before(self, tool_call: _Call) -> Decision | None:
        if self.guard is None or tool_call.run is None:
            return None
        try:
            return await self.guard.run(tool_call.run.id).before(
                tool_call.tool, tool_call.args, id=tool_call.id, agent=tool_call.agent
            )
        except Exception as error:
            log_unread(Unloop._before, error)
            return None

    async def _after(self, tool_call: _Call, result: object = UNSET, error: str | None = None) -> Decision | None:
        if self.guard is None or tool_call.run is None:
            return None
        try:
            guard = self.guard.run(tool_call.run.id)
            return await guard.after(tool_call.tool, tool_call.args, result, id=tool_call.id, agent=tool_call.agent, error=error)
        except Exception as fault:
            log_unread(Unloop._after, fault)
            return None

    async def _after_cancelled(self, tool_call: _Call) -> None:
        if self.guard is None or tool_call.run is None:
            return
        after = self.guard.run(tool_call.run.id).sync.after
        await in_thread_to_its_end(after, tool_call.tool, tool_call.args, id=tool_call.id, agent=tool_call.agent, error=CANCELLED)


class _Call:
    """A tool call and the run that records it."""

    def __init__(self, run: Run | None, call: ToolCallPart, agent: str | None) -> None:
        self.run, self.tool, self.id, self.agent = run, call.tool_name, call.tool_call_id, agent
        self.args = arguments(call.args or {})
        self.to = handoff(call.tool_name, self.args)

    @never_raises
    def event(self, type: str, **fields: Any) -> None:
        if self.run is None:
            return
        if not self.to:
            self.run.event(type, agent=self.agent, tool=self.tool, call_id=self.id, **fields)
        elif type == "tool_call_started":
            self.run.event("handoff_started", agent=self.to, metadata={"from": self.agent})


def _agent(ctx: RunContext[Any]) -> str | None:
    return ctx.agent.name if ctx.agent is not None else None


@never_raises
def _record_response(run: Run, response: ModelResponse, agent: str | None, start: str, latency: float) -> None:
    tokens = response.usage
    run.event(
        "llm_call_completed",
        agent=agent,
        model=response.model_name,
        tokens=count(tokens.input_tokens, tokens.output_tokens) or None,
        usage=usage(
            tokens.input_tokens,
            tokens.output_tokens,
            tokens.cache_read_tokens,
            tokens.cache_write_tokens,
            tokens.output_reasoning_tokens,
        ),
        latency_ms=latency,
        parent_event_id=start,
    )
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if text:
        run.event("message", role="assistant", agent=agent, text=text)


def _error_text(error: Exception) -> str:
    """Returns the text that the model gets for an error, or the exception's text."""
    part = error.tool_retry if isinstance(error, ToolRetryError) else None
    message = getattr(part, "content", None) or getattr(error, "message", None)
    return message if isinstance(message, str) else f"{type(error).__name__}: {error}"


def _raise_if_halted(decision: Decision | None) -> None:
    if decision is not None and decision.action == "halt":
        raise LoopError(decision)


def _raise_with_nudge(error: Exception, decision: Decision | None, retryable: tuple[type[Exception], ...]) -> None:
    """Raises LoopError on a halt. With a nudge it raises the error again with the nudge in the text for the model."""
    _raise_if_halted(decision)
    nudge = decision.result if decision is not None else UNSET
    nudge = nudge.get("error") if isinstance(nudge, dict) else nudge
    if isinstance(nudge, str) and isinstance(error, retryable):
        raise ModelRetry(nudge) from error
    if isinstance(nudge, str) and isinstance(error, (ToolFailedError, ToolFailed)):
        raise ToolFailed(nudge) from error
