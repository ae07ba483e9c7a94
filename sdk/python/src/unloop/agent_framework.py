"""unloop for the Microsoft Agent Framework: middleware that records an agent's runs on the server and, with a guard, stops loops.

agent = Agent(client, tools=[search], middleware=unloop_middleware(AsyncGuard()))
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    ChatContext,
    ChatMiddleware,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
)

from ._adapter import get, items, never_raises, text, usage
from ._calls import AsyncToolCall, ModelCall, as_text, nudge
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError

Next = Callable[[], Awaitable[None]]


@dataclasses.dataclass
class _Task:
    """A run of an agent."""

    run: Run
    agent: str
    halt: Decision | None = None
    error: BaseException | None = None  # of the last model call


_task: ContextVar[_Task | None] = ContextVar("unloop_agent_framework", default=None)


def unloop_middleware(guard: AsyncGuard | None = None) -> list[Any]:
    """Returns middleware for one or more agents. It records runs, model calls with their tokens, tool calls and messages. With a
    guard it decides about tool calls.

    A session is a run. Within unloop.trace(), and in an agent that is a tool of another one, events belong to the current run. A
    blocked call returns the guard's answer. A warning is added to the result. On a halt the run raises LoopError.
    """
    return [_Agents(guard), _Models(), _Tools(guard)]


class _Agents(AgentMiddleware):
    def __init__(self, guard: AsyncGuard | None) -> None:
        self._guard = guard

    async def process(self, context: AgentContext, call_next: Next) -> None:
        outer, name = current_run(), text(get(context.agent, "name")) or "agent"
        session = text(get(context.session, "session_id"))
        task = _Task(outer or Run.begin(name, id=session or None), name)
        token = _task.set(task)  # not reset for a stream, whose model calls follow
        await self._prompt(task, context.messages)
        try:
            await call_next()
        except BaseException as error:
            _task.reset(token)
            if outer is None:
                task.run.end(error=error)
            raise
        if not context.stream:
            _task.reset(token)
        if outer is not None:
            return
        if not context.stream:
            task.run.end()
        elif (add := getattr(context.result, "with_cleanup_hook", None)) is not None:
            add(lambda: task.run.end(error=task.error))

    async def _prompt(self, task: _Task, messages: Any) -> None:
        said = [text(get(message, "text")) for message in items(messages) if str(get(message, "role")) == "user"]
        if not said or not said[-1]:
            return
        task.run.event("message", role="user", text=said[-1])
        if self._guard is not None:
            await self._guard.run(task.run.id).user(said[-1])


class _Models(ChatMiddleware):
    async def process(self, context: ChatContext, call_next: Next) -> None:
        task = _task.get()
        if task is None:
            await call_next()
            return
        if task.halt is not None:
            task.error = LoopError(task.halt)
            raise task.error
        model = text(get(context.options, "model")) or text(get(context.client, "model"))
        call = ModelCall(task.run, model or None, task.agent)
        if context.stream:
            context.stream_result_hooks.append(lambda response: _answered(call, response))
        try:
            await call_next()
        except BaseException as error:
            task.error = error
            call.failed(error)
            raise
        if not context.stream:
            _answered(call, context.result)


class _Tools(FunctionMiddleware):
    def __init__(self, guard: AsyncGuard | None) -> None:
        self._guard = guard

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        task = _task.get()
        if task is None:
            await call_next()
            return
        call = AsyncToolCall(task.run, self._guard, context.function.name, context.arguments, agent=task.agent)
        decision = await call.begin()
        if decision.stopped:
            task.halt = decision if decision.halted else task.halt
            context.result = as_text(decision.result)
            return
        try:
            await call_next()
        except asyncio.CancelledError:
            await call.cancelled()
            raise
        except Exception as error:
            decision = await call.failed(error)
            task.halt = decision if decision.halted else task.halt
            if decision.result is UNSET:
                raise
            # By default, the framework tells the model no more than this about an error.
            context.result = f"Error: Function failed. {nudge(decision)}"
            return
        decision = await call.completed(_value(context.result))
        task.halt = decision if decision.halted else task.halt
        if decision.result is not UNSET:
            blocks = context.result if isinstance(context.result, list) else [Content.from_text(as_text(context.result))]
            context.result = [*blocks, Content.from_text("\n" + nudge(decision))]


def _value(result: Any) -> Any:
    """Returns a tool's result. The framework makes texts of results; if there are only texts, it is their text."""
    texts = [get(block, "text") for block in items(result)]
    return "\n".join(texts) if texts and all(isinstance(one, str) for one in texts) else result


@never_raises
def _answered(call: ModelCall, response: Any) -> None:
    tokens = get(response, "usage_details")
    counts = usage(
        get(tokens, "input_token_count"),
        get(tokens, "output_token_count"),
        get(tokens, "cache_read_input_token_count"),
        get(tokens, "cache_creation_input_token_count"),
        get(tokens, "reasoning_output_token_count"),
    )
    call.completed(counts, model=text(get(response, "model")) or None, text=text(get(response, "text")))


__all__ = ["unloop_middleware"]
