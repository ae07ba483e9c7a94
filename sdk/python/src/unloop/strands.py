"""unloop for Strands Agents: hooks that record an agent's invocations on the server and, with a guard, stop loops.

agent = Agent(model=model, tools=[search], hooks=[UnloopHooks(AsyncGuard())])
"""

from __future__ import annotations

import contextlib
import dataclasses
import secrets
import weakref
from typing import Any

from strands.hooks import (
    AfterInvocationEvent,
    AfterModelCallEvent,
    AfterMultiAgentInvocationEvent,
    AfterToolCallEvent,
    BeforeInvocationEvent,
    BeforeModelCallEvent,
    BeforeMultiAgentInvocationEvent,
    BeforeToolCallEvent,
    HookProvider,
    HookRegistry,
)
from strands.types.tools import ToolResult

from ._adapter import BoundedDict, count, get, items, never_raises, text, usage
from ._calls import AsyncToolCall, ModelCall, as_text, nudge
from ._run import Run, current_run
from ._unset import UNSET
from .guard import AsyncGuard, Decision, LoopError


@dataclasses.dataclass
class _Invocation:
    run: Run
    own: bool  # the run ends with the invocation
    model: ModelCall | None = None
    error: BaseException | None = None
    halt: Decision | None = None


class UnloopHooks(HookProvider):
    """Records model calls with their tokens, tool calls, handoffs and messages. With a guard it decides about tool calls.

    An agent is a run. The run's id is session.id of the agent's trace_attributes, or random. Within unloop.trace(), in an agent
    that a tool runs, and in a graph or swarm that has the hooks as well, events belong to the current run. A blocked call returns
    the guard's answer as its result. A warning is attached to the result. On a halt the next model call raises LoopError.
    """

    def __init__(self, guard: AsyncGuard | None = None) -> None:
        self._guard = guard
        self._ids: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
        self._invocations: weakref.WeakKeyDictionary[Any, _Invocation] = weakref.WeakKeyDictionary()
        self._groups: weakref.WeakKeyDictionary[Any, tuple[Run, contextlib.ExitStack]] = weakref.WeakKeyDictionary()
        self._calls: BoundedDict[AsyncToolCall] = BoundedDict()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        registry.add_callback(BeforeInvocationEvent, self._started)
        registry.add_callback(AfterInvocationEvent, self._ended)
        registry.add_callback(BeforeModelCallEvent, self._before_model)
        registry.add_callback(AfterModelCallEvent, self._after_model)
        registry.add_callback(BeforeToolCallEvent, self._before_tool)
        registry.add_callback(AfterToolCallEvent, self._after_tool)
        registry.add_callback(BeforeMultiAgentInvocationEvent, self._group_started)
        registry.add_callback(AfterMultiAgentInvocationEvent, self._group_ended)

    async def _started(self, event: BeforeInvocationEvent) -> None:
        invocation = self._begin(event)
        if invocation is None or not invocation.own:
            return
        prompts = [_text(message["content"]) for message in event.messages or [] if message["role"] == "user"]
        if not prompts or not prompts[-1]:
            return
        invocation.run.event("message", role="user", text=prompts[-1])
        if self._guard is not None:
            await self._guard.run(invocation.run.id).user(prompts[-1])

    @never_raises
    def _begin(self, event: BeforeInvocationEvent) -> _Invocation:
        agent, outer = event.agent, current_run()
        session = text(get(agent, "trace_attributes", "session.id"))
        id = session or self._ids.setdefault(agent, secrets.token_hex(12))
        invocation = _Invocation(outer or Run.begin(agent.name, id=id), own=outer is None)
        self._invocations[agent] = invocation
        return invocation

    @never_raises
    def _ended(self, event: AfterInvocationEvent) -> None:
        invocation = self._invocations.pop(event.agent, None)
        if invocation is None or not invocation.own:
            return
        error = invocation.error or "the invocation failed"
        invocation.run.end(error=error if event.result is None else None)

    def _before_model(self, event: BeforeModelCallEvent) -> None:
        invocation = self._invocations.get(event.agent)
        if invocation is None:
            return
        if invocation.halt is not None:
            invocation.error = LoopError(invocation.halt)
            raise invocation.error
        model = text(get(event.agent.model.get_config(), "model_id"))
        invocation.model = ModelCall(invocation.run, model, event.agent.name)

    @never_raises
    def _after_model(self, event: AfterModelCallEvent) -> None:
        invocation = self._invocations.get(event.agent)
        if invocation is None or invocation.model is None:
            return
        call, invocation.model = invocation.model, None
        if event.stop_response is None:
            invocation.error = event.exception
            call.failed(event.exception)
            return
        message = event.stop_response.message
        call.completed(_usage(get(message, "metadata", "usage")), text=_text(message["content"]))

    async def _before_tool(self, event: BeforeToolCallEvent) -> None:
        invocation = self._invocations.get(event.agent)
        if invocation is None:
            return
        use, agent = event.tool_use, event.agent.name
        call = AsyncToolCall(invocation.run, self._guard, use["name"], use["input"], id=use["toolUseId"], agent=agent)
        decision = await call.begin()
        if decision.halted:
            invocation.halt = decision
        if decision.stopped:
            event.cancel_tool = as_text(decision.result)
        else:
            self._calls[f"{invocation.run.id} {use['toolUseId']}"] = call

    async def _after_tool(self, event: AfterToolCallEvent) -> None:
        invocation = self._invocations.get(event.agent)
        if invocation is None:
            return
        call = self._calls.pop(f"{invocation.run.id} {event.tool_use['toolUseId']}", None)
        if call is None:
            return
        value = _value(event.result)
        decision = await (call.failed(value) if event.result["status"] == "error" else call.completed(value))
        if decision.halted:
            invocation.halt = decision
        if decision.result is not UNSET:
            event.result = {**event.result, "content": [*event.result["content"], {"text": nudge(decision)}]}

    @never_raises
    def _group_started(self, event: BeforeMultiAgentInvocationEvent) -> None:
        if current_run() is None:
            run, active = Run.begin(text(get(event.source, "id")) or type(event.source).__name__), contextlib.ExitStack()
            active.enter_context(run.activate())
            self._groups[event.source] = run, active

    @never_raises
    def _group_ended(self, event: AfterMultiAgentInvocationEvent) -> None:
        run, active = self._groups.pop(event.source, (None, None))
        if run is not None and active is not None:
            active.close()
            run.end()


def _usage(tokens: Any) -> dict[str, int]:
    """Returns the usage field. Some providers do not count cached tokens as input. The total shows which."""
    prompt, answer = get(tokens, "inputTokens"), get(tokens, "outputTokens")
    cached, written = get(tokens, "cacheReadInputTokens"), get(tokens, "cacheWriteInputTokens")
    if count(prompt, answer) != count(get(tokens, "totalTokens")):
        prompt = count(prompt, cached, written)
    return usage(prompt, answer, cached, written)


def _value(result: ToolResult) -> Any:
    """Returns the content of a result: the text or the JSON value if it has only that, else its blocks."""
    blocks: list[Any] = list(result["content"])
    if blocks and all("text" in block for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    return blocks[0]["json"] if len(blocks) == 1 and "json" in blocks[0] else blocks


def _text(blocks: Any) -> str:
    return "".join(text(get(block, "text")) for block in items(blocks))
