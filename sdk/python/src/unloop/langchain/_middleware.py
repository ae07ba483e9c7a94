"""The middleware: it asks a guard before and after each tool call of an agent, tells the model what the guard says, and ends
the run where it must. What it decided stands in the messages, so that a graph can go on in another process."""

from __future__ import annotations

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
from . import _read, _tell
from ._handler import BLOCKED

Outcome = ToolMessage | Command[Any]


class UnloopState(AgentState[Any]):
    """What an agent's state has for the middleware."""

    unloop_run: NotRequired[Annotated[str, PrivateStateAttr]]


class UnloopMiddleware(AgentMiddleware[UnloopState, Any, Any]):
    """Guards an agent of langchain.agents.create_agent.

    A warning is added to what the tool told the model. A call that is blocked does not run, and the model is told why. A halt
    ends the agent with an answer that says why and what it had; with on_halt="raise" it raises LoopError. A thread is one run of
    the guard's, whose turns are the invocations; an invocation without thread_id is a run of its own.
    """

    state_schema = UnloopState

    def __init__(self, profile: str = "default", *, on_halt: Literal["end", "raise"] = "end", **guard: Any) -> None:
        """Takes what Guard takes, beside on_halt."""
        if on_halt not in ("end", "raise"):
            raise ValueError(f'on_halt is {on_halt!r}, but it can be "end" or "raise"')
        super().__init__()
        self.tools = []
        self._on_halt = on_halt
        self._guard = Guard(profile, **guard)
        self._async_guard = AsyncGuard(profile, **guard)

    def before_agent(self, state: UnloopState, runtime: Runtime[Any]) -> dict[str, Any]:
        run = _run(state, runtime, uuid4().hex)
        if _begins_turn(runtime):
            self._guard.run(run).user(_read.asked(state))
        return {"unloop_run": run}

    async def abefore_agent(self, state: UnloopState, runtime: Runtime[Any]) -> dict[str, Any]:
        run = _run(state, runtime, uuid4().hex)
        if _begins_turn(runtime):
            await self._async_guard.run(run).user(_read.asked(state))
        return {"unloop_run": run}

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any] | AIMessage:
        halted = _tell.halt_in(request.messages)
        if halted:
            return self._end(halted, request)
        if not request.tools:
            return handler(request)  # what it calls then is its structured answer
        response = handler(_tell.nudged(request))
        said = _tell.said_with_calls(response)
        if said is None:
            return response
        decision = self._guard.run(_run(request.state, request.runtime, self._guard.id)).text(_read.text(said), agent=said.name)
        return self._end(decision, request, said) if decision.halted else _tell.marked_response(response, said, decision)

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelResponse[Any] | AIMessage:
        halted = _tell.halt_in(request.messages)
        if halted:
            return self._end(halted, request)
        if not request.tools:
            return await handler(request)  # what it calls then is its structured answer
        response = await handler(_tell.nudged(request))
        said = _tell.said_with_calls(response)
        if said is None:
            return response
        guard = self._async_guard.run(_run(request.state, request.runtime, self._guard.id))
        decision = await guard.text(_read.text(said), agent=said.name)
        return self._end(decision, request, said) if decision.halted else _tell.marked_response(response, said, decision)

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Outcome]) -> Outcome:
        guard, call = self._guard.run(_run(request.state, request.runtime, self._guard.id)), _Call(request)
        decision = guard.before(call.tool, call.args, **call.told)
        if decision.stopped:
            with contextlib.suppress(Exception):  # nobody listens
                dispatch_custom_event(BLOCKED, call.blocked(decision), config=request.runtime.config)
            return self._refuse(call, decision)
        began = time.perf_counter()
        try:
            outcome = handler(request)
        except Exception as error:
            if _read.steers(error):
                raise
            decision = guard.after(call.tool, call.args, error=error, duration_ms=_since(began), **call.told)
            if decision.halted:
                return self._refuse(call, decision)
            raise
        decision = guard.after(call.tool, call.args, **_tell.outcome(outcome), duration_ms=_since(began), **call.told)
        return self._pass(call, outcome, decision)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Outcome]]
    ) -> Outcome:
        guard, call = self._async_guard.run(_run(request.state, request.runtime, self._guard.id)), _Call(request)
        decision = await guard.before(call.tool, call.args, **call.told)
        if decision.stopped:
            with contextlib.suppress(Exception):
                await adispatch_custom_event(BLOCKED, call.blocked(decision), config=request.runtime.config)
            return self._refuse(call, decision)
        began = time.perf_counter()
        try:
            outcome = await handler(request)
        except Exception as error:
            if _read.steers(error):
                raise
            decision = await guard.after(call.tool, call.args, error=error, duration_ms=_since(began), **call.told)
            if decision.halted:
                return self._refuse(call, decision)
            raise
        told = _tell.outcome(outcome)
        decision = await guard.after(call.tool, call.args, **told, duration_ms=_since(began), **call.told)
        return self._pass(call, outcome, decision)

    def _end(self, decision: Decision, request: ModelRequest[Any], said: AIMessage | None = None) -> AIMessage:
        """Returns the answer that ends the agent."""
        self._raise(decision)
        return _tell.partial_answer(decision, request.messages, said)

    def _refuse(self, call: _Call, decision: Decision) -> ToolMessage:
        """Returns what the model gets for a call that did not run or has ended the run."""
        self._raise(decision)
        return _tell.refusal(decision, call.tool, call.request.tool_call["id"] or "")

    def _pass(self, call: _Call, outcome: Outcome, decision: Decision) -> Outcome:
        """Returns the outcome with the warning, if there is one. Where the run has to end, a command leads nowhere else."""
        self._raise(decision)
        told: Outcome = _tell.warned(outcome, decision)
        if not decision.halted or isinstance(told, ToolMessage):
            return told
        messages = _read.tool_messages(told)
        return messages[0] if messages else _tell.refusal(decision, call.tool, call.request.tool_call["id"] or "")

    def _raise(self, decision: Decision) -> None:
        if decision.halted and self._on_halt == "raise":
            raise LoopError(decision)


class _Call:
    """A tool call as the guard is told of it."""

    def __init__(self, request: ToolCallRequest) -> None:
        self.request = request
        self.tool = request.tool_call["name"]
        self.args = request.tool_call["args"]
        facts = request.runtime.config.get("metadata") or {}
        self.told: dict[str, Any] = {
            "id": uuid4().hex,  # models may give the same id twice
            "agent": facts.get("lc_agent_name"),
            "annotations": _annotations(getattr(request.tool, "metadata", None)),
        }

    def blocked(self, decision: Decision) -> dict[str, Any]:
        return {"tool": self.tool, "call_id": self.told["id"], "input": self.args, "output": decision.result}


def _annotations(metadata: Any) -> dict[str, bool] | None:
    """Returns what a tool says of itself in the words of MCP, as langchain-mcp-adapters put it into a tool's metadata."""
    if not isinstance(metadata, dict):
        return None
    nested = metadata.get("annotations")
    told = {**(nested if isinstance(nested, dict) else {}), **metadata}
    found = {hint: told[hint] for hint in ("readOnlyHint", "idempotentHint") if isinstance(told.get(hint), bool)}
    return found or None


def _run(state: Any, runtime: Any, otherwise: str) -> str:
    """Returns the guard's run: what the agent began with, else the thread, else the run around."""
    known = state.get("unloop_run") if isinstance(state, dict) else None
    if known:
        return str(known)
    info = getattr(runtime, "execution_info", None)
    thread = getattr(info, "thread_id", None)
    around = current_run()
    return str(thread or (around.id if around else otherwise))


def _begins_turn(runtime: Any) -> bool:
    """Reports whether a person began the invocation. An agent within another graph goes on with the turn of that."""
    info = getattr(runtime, "execution_info", None)
    return "|" not in (getattr(info, "checkpoint_ns", None) or "")


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000
