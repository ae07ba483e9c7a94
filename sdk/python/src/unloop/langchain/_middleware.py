"""The middleware guards each tool call of an agent, passes warnings to the model, and ends the run on a halt. Decisions are
stored in the messages, so that a graph can continue in another process."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain.agents.middleware.types import PrivateStateAttr, ToolCallRequest
from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import NotRequired

from .._run import current_run
from ..guard import AsyncGuard, Decision, Guard, LoopError
from ..guard._threads import CANCELLED, in_thread_to_its_end
from . import _extract, _messages
from ._handler import BLOCKED

Outcome = ToolMessage | Command[Any]


class UnloopState(AgentState[Any]):
    """The agent's state with the middleware's run id."""

    unloop_run: NotRequired[Annotated[str, PrivateStateAttr]]


class UnloopMiddleware(AgentMiddleware[UnloopState, Any, Any]):
    """Guards an agent of langchain.agents.create_agent.

    A warning is appended to the tool's message. A blocked call does not run, and its message gives the reason. A halt ends the
    agent with an answer that contains the reason and the model's last text; with on_halt="raise" it raises LoopError. Each
    thread is one run of the guard, and each invocation a turn. An invocation without thread_id is a separate run.
    """

    state_schema = UnloopState

    def __init__(self, profile: str = "default", *, on_halt: Literal["end", "raise"] = "end", **guard: Any) -> None:
        """Takes on_halt and the arguments of Guard. Raises ValueError for another on_halt."""
        if on_halt not in ("end", "raise"):
            raise ValueError(f'invalid on_halt {on_halt!r}: want "end" or "raise"')
        super().__init__()
        self.tools = []
        self._on_halt = on_halt
        self._guard = Guard(profile, **guard)
        self._async_guard = AsyncGuard(profile, **guard)

    def before_agent(self, state: UnloopState, runtime: Runtime[Any]) -> dict[str, Any]:
        run = _run_id(state, runtime, uuid4().hex)
        if _starts_turn(runtime):
            self._guard.run(run).user(_extract.user_text(state))
        return {"unloop_run": run}

    async def abefore_agent(self, state: UnloopState, runtime: Runtime[Any]) -> dict[str, Any]:
        run = _run_id(state, runtime, uuid4().hex)
        if _starts_turn(runtime):
            await self._async_guard.run(run).user(_extract.user_text(state))
        return {"unloop_run": run}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        halted = _messages.halt_in(request.messages)
        if halted:
            return self._end(halted, request)
        if not request.tools:
            return handler(request)  # the call is its structured answer
        response = handler(_messages.with_nudge(request))
        message = _messages.text_with_calls(response)
        if message is None:
            return response
        decision = self._guard.run(_run_id(request.state, request.runtime, self._guard.id)).text(
            _extract.text(message), agent=message.name
        )
        return (
            self._end(decision, request, message) if decision.halted else _messages.annotate_response(response, message, decision)
        )

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        halted = _messages.halt_in(request.messages)
        if halted:
            return self._end(halted, request)
        if not request.tools:
            return await handler(request)  # the call is its structured answer
        response = await handler(_messages.with_nudge(request))
        message = _messages.text_with_calls(response)
        if message is None:
            return response
        guard = self._async_guard.run(_run_id(request.state, request.runtime, self._guard.id))
        decision = await guard.text(_extract.text(message), agent=message.name)
        return (
            self._end(decision, request, message) if decision.halted else _messages.annotate_response(response, message, decision)
        )

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Outcome]) -> Outcome:
        guard, call = self._guard.run(_run_id(request.state, request.runtime, self._guard.id)), _Call(request)
        decision = guard.before(call.tool, call.args, **call.fields)
        if decision.stopped:
            with contextlib.suppress(Exception):  # there is no callback manager
                dispatch_custom_event(BLOCKED, call.blocked(decision), config=request.runtime.config)
            return self._refuse(call, decision)
        started_at = time.perf_counter()
        try:
            outcome = handler(request)
        except Exception as error:
            if _extract.is_control_flow(error):
                raise
            decision = guard.after(call.tool, call.args, error=error, duration_ms=_ms_since(started_at), **call.fields)
            if decision.halted:
                return self._refuse(call, decision)
            raise
        decision = guard.after(
            call.tool, call.args, **_messages.outcome_fields(outcome), duration_ms=_ms_since(started_at), **call.fields
        )
        return self._pass(call, outcome, decision)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Outcome]]
    ) -> Outcome:
        guard, call = self._async_guard.run(_run_id(request.state, request.runtime, self._guard.id)), _Call(request)
        decision = await guard.before(call.tool, call.args, **call.fields)
        if decision.stopped:
            with contextlib.suppress(Exception):
                await adispatch_custom_event(BLOCKED, call.blocked(decision), config=request.runtime.config)
            return self._refuse(call, decision)
        started_at = time.perf_counter()
        try:
            outcome = await handler(request)
        except asyncio.CancelledError:
            fields = {**call.fields, "error": CANCELLED, "duration_ms": _ms_since(started_at)}
            await in_thread_to_its_end(guard.sync.after, call.tool, call.args, **fields)
            raise
        except Exception as error:
            if _extract.is_control_flow(error):
                raise
            decision = await guard.after(call.tool, call.args, error=error, duration_ms=_ms_since(started_at), **call.fields)
            if decision.halted:
                return self._refuse(call, decision)
            raise
        fields = _messages.outcome_fields(outcome)
        decision = await guard.after(call.tool, call.args, **fields, duration_ms=_ms_since(started_at), **call.fields)
        return self._pass(call, outcome, decision)

    def _end(self, decision: Decision, request: ModelRequest[Any], message: AIMessage | None = None) -> AIMessage:
        """Returns the answer that ends the agent."""
        self._raise(decision)
        return _messages.halt_answer(decision, request.messages, message)

    def _refuse(self, call: _Call, decision: Decision) -> ToolMessage:
        """Returns the message for a call that was blocked or that ended the run."""
        self._raise(decision)
        return _messages.refusal(decision, call.tool, call.request.tool_call["id"] or "")

    def _pass(self, call: _Call, outcome: Outcome, decision: Decision) -> Outcome:
        """Returns the outcome with the warning, if there is one. On a halt it returns a message instead of a command."""
        self._raise(decision)
        result: Outcome = _messages.nudged_outcome(outcome, decision)
        if not decision.halted or isinstance(result, ToolMessage):
            return result
        messages = _extract.tool_messages(result)
        return messages[0] if messages else _messages.refusal(decision, call.tool, call.request.tool_call["id"] or "")

    def _raise(self, decision: Decision) -> None:
        if decision.halted and self._on_halt == "raise":
            raise LoopError(decision)


class _Call:
    """A tool call with the arguments for the guard."""

    def __init__(self, request: ToolCallRequest) -> None:
        self.request = request
        self.tool = request.tool_call["name"]
        self.args = request.tool_call["args"]
        metadata = request.runtime.config.get("metadata") or {}
        self.fields: dict[str, Any] = {
            "id": uuid4().hex,  # models may use an id twice
            "agent": metadata.get("lc_agent_name"),
            "annotations": _annotations(getattr(request.tool, "metadata", None)),
        }

    def blocked(self, decision: Decision) -> dict[str, Any]:
        return {"tool": self.tool, "call_id": self.fields["id"], "input": self.args, "output": decision.result}


def _annotations(metadata: Any) -> dict[str, bool] | None:
    """Returns the MCP annotations in a tool's metadata, where langchain-mcp-adapters put them."""
    if not isinstance(metadata, dict):
        return None
    nested = metadata.get("annotations")
    values = {**(nested if isinstance(nested, dict) else {}), **metadata}
    found = {hint: values[hint] for hint in ("readOnlyHint", "idempotentHint") if isinstance(values.get(hint), bool)}
    return found or None


def _run_id(state: Any, runtime: Any, default: str) -> str:
    """Returns the guard's run id: that of the agent's state, else the thread, else the current run, else default."""
    stored = state.get("unloop_run") if isinstance(state, dict) else None
    if stored:
        return str(stored)
    execution_info = getattr(runtime, "execution_info", None)
    thread = getattr(execution_info, "thread_id", None)
    outer = current_run()
    return str(thread or (outer.id if outer else default))


def _starts_turn(runtime: Any) -> bool:
    """Reports whether the invocation starts a turn. An agent within another graph continues that graph's turn."""
    execution_info = getattr(runtime, "execution_info", None)
    return "|" not in (getattr(execution_info, "checkpoint_ns", None) or "")


def _ms_since(started_at: float) -> float:
    return (time.perf_counter() - started_at) * 1000
