"""Calls of an agent in a framework: they are recorded in its run, and a guard decides about each tool call."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ._adapter import MAX_TEXT, arguments, handoff, never_raises
from ._run import Run, current_run
from ._serialize import serialize
from ._unset import UNSET
from .guard import AsyncGuard, Decision, Guard
from .guard._threads import CANCELLED, in_thread, in_thread_to_its_end


class ModelCall:
    """A model call. Without a run nothing is recorded. Its methods never raise."""

    def __init__(self, run: Run | None, model: str | None, agent: str | None) -> None:
        self.run, self.model, self.agent = run, model, agent
        self.started_at = time.monotonic()
        self.start = run.event("llm_call_started", agent=agent, model=model) if run is not None else ""

    def completed(self, usage: Mapping[str, int], *, model: str | None = None, text: str = "") -> None:
        """Records the end of the call, and the text of the answer as a message. usage is that of an event."""
        if self.run is None:
            return
        self.run.event(
            "llm_call_completed",
            agent=self.agent,
            model=model or self.model,
            tokens=usage.get("input_tokens", 0) + usage.get("output_tokens", 0) or None,
            usage=usage,
            latency_ms=(time.monotonic() - self.started_at) * 1000,
            parent_event_id=self.start,
        )
        if text:
            self.run.event("message", role="assistant", agent=self.agent, text=text)

    def failed(self, error: object) -> None:
        if self.run is not None:
            self.run.event("llm_call_failed", agent=self.agent, model=self.model, error=error, parent_event_id=self.start)


class ToolCall:
    """A tool call. Without a run it is neither recorded nor guarded. Its methods never raise.

    While the tool runs, the run is the current one. A tool whose name says that it hands over to another agent is recorded as a
    handoff.
    """

    def __init__(
        self, run: Run | None, guard: Guard | None, tool: str, args: object, *, id: str | None = None, agent: str | None = None
    ) -> None:
        self.run, self.tool, self.agent = run, tool, agent
        self.args, self.id = arguments(args), id or secrets.token_hex(8)
        self.guard = guard.run(run.id) if guard is not None and run is not None else None
        self._handoff_to = handoff(tool, self.args)
        self._started_at = time.monotonic()
        self._active = contextlib.ExitStack()

    def begin(self) -> Decision:
        """Records the start of the call. If the decision is stopped, do not run the tool: its result is the decision's."""
        return self.enter(self.record_start())

    def completed(self, result: object) -> Decision:
        """Records the tool's result. If the decision has a result, it replaces that of the tool."""
        self.leave()
        return self.record_end("tool_call_completed", result=result) or Decision()

    def failed(self, error: object) -> Decision:
        """Records the error of the tool. If the decision has a result, it is the error's text with the nudge."""
        self.leave()
        return self.record_end("tool_call_failed", error=error) or Decision()

    def enter(self, decision: Decision | None) -> Decision:
        """Makes the run the current one if the tool is to run. Returns the decision, which is None if there was a fault."""
        decision = decision or Decision()
        if decision.ok and self.run is not None:
            self._active.enter_context(self.run.activate())
        self._started_at = time.monotonic()
        return decision

    def leave(self) -> None:
        self._active.close()

    @never_raises
    def record_start(self) -> Decision:
        self._event("tool_call_started", input=self.args)
        if self.guard is None:
            return Decision()
        decision = self.guard.before(self.tool, self.args, id=self.id, agent=self.agent)
        if decision.stopped:
            self._event("tool_call_blocked", output=decision.result)
        return decision

    @never_raises
    def record_end(self, type: str, result: object = UNSET, error: object = None) -> Decision:
        elapsed_ms = (time.monotonic() - self._started_at) * 1000
        self._event(type, output=result, error=error, latency_ms=elapsed_ms)
        if self.guard is None:
            return Decision()
        return self.guard.after(self.tool, self.args, result, id=self.id, agent=self.agent, error=error, duration_ms=elapsed_ms)

    def _event(self, type: str, **fields: Any) -> None:
        if self.run is None:
            return
        if not self._handoff_to:
            self.run.event(type, agent=self.agent, tool=self.tool, call_id=self.id, **fields)
        elif type == "tool_call_started":
            self.run.event("handoff_started", agent=self._handoff_to, metadata={"from": self.agent})


class AsyncToolCall:
    """ToolCall for asyncio. It does not block the event loop."""

    def __init__(
        self,
        run: Run | None,
        guard: AsyncGuard | None,
        tool: str,
        args: object,
        *,
        id: str | None = None,
        agent: str | None = None,
    ) -> None:
        self._call = ToolCall(run, guard.sync if guard is not None else None, tool, args, id=id, agent=agent)

    async def begin(self) -> Decision:
        if self._call.guard is not None:
            await self._call.guard._resumed()
        return self._call.enter(await self._do(self._call.record_start))

    async def completed(self, result: object) -> Decision:
        self._call.leave()
        return await self._do(self._call.record_end, "tool_call_completed", result) or Decision()

    async def failed(self, error: object) -> Decision:
        self._call.leave()
        return await self._do(self._call.record_end, "tool_call_failed", UNSET, error) or Decision()

    async def cancelled(self) -> None:
        """Records the end of a tool whose task was cancelled."""
        self._call.leave()
        if self._call.guard is None:
            self._call.record_end("tool_call_failed", error=CANCELLED)
        else:
            await in_thread_to_its_end(self._call.record_end, "tool_call_failed", error=CANCELLED)

    async def _do(self, step: Callable[..., Decision | None], *values: object) -> Decision | None:
        return step(*values) if self._call.guard is None else await in_thread(step, *values)


@contextlib.contextmanager
def agent_run(name: str, id: str | None = None) -> Iterator[Run]:
    """The current run, or else a run that begins and ends with the block."""
    run = current_run()
    if run is not None:
        yield run
        return
    with Run(name, id=id) as run:
        yield run


def as_text(result: Any) -> str:
    """Returns a result as a text for a model."""
    return result if isinstance(result, str) else serialize(result, MAX_TEXT)[0]


def nudge(decision: Decision) -> str:
    """Returns the text of a nudge, as the guard attaches it to a result that is a text."""
    return f"[loop-guard] {decision.message}"
