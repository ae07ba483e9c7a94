"""Guard and AsyncGuard: what an agent's code has in its hands."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, ParamSpec, TypeVar, get_args

from .. import _core, _log
from .._freeze import cut, freeze, quote, wording
from .._unset import UNSET
from ._attach import attach
from ._child import child_of
from ._decision import UNGUARDED, VALUE_BYTES, Action, Decision, GuardUnavailable
from ._link import Link, Unavailable, say_unguarded
from ._remote import Remote
from ._tool import tool

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

MAX_RUN = 200  # bytes of a run's name


class Guard:
    """Guards one run. It never raises into the agent, but LoopError from a tool that it decorates; where there is no guard to
    ask, every decision is to allow, with the code "unguarded". Safe for threads."""

    def __init__(
        self,
        profile: str = "default",
        *,
        settings: Mapping[str, Any] | None = None,
        endpoint: str | None = None,
        token: str | None = None,
        run: str | None = None,
        timeout: float = 2.0,
        strict: bool = False,
    ) -> None:
        """Without an endpoint it asks a child process, which all guards of this profile and these settings share. Run names
        what is guarded; as a rule it is made up. Timeout is in seconds, for one answer. A strict guard raises
        GuardUnavailable, here, if there is none to ask."""
        self._timeout = timeout
        self._enabled = _core.settings().enabled
        self._link: Link = (
            Remote(endpoint, _core.settings().token if token is None else token, profile, settings)
            if endpoint
            else child_of(profile, settings)
        )
        self._name(run)
        if strict and self._enabled:
            self._start()

    def _name(self, run: str | None) -> None:
        self.id = cut(run, MAX_RUN // 4) if run and len(run.encode("utf-8", "replace")) > MAX_RUN else run or secrets.token_hex(8)
        self._memory = self._link.memory(self.id)
        self._head = f'"run":{quote(self.id)}'

    def _start(self) -> None:
        decision = self._ask("stats", "")
        if "error" in decision or not decision:
            raise GuardUnavailable(self._why or "there is no guard to ask")

    def run(self, id: str | None = None) -> Guard:
        """Returns the guard of another run, which asks the same process or server."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._name(id)
        return other

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Forgets the run."""
        if self._memory.generation is not None:
            self.reset()
        self._link.forget(self.id)

    def before(
        self,
        tool: str,
        args: object = None,
        *,
        id: str | None = None,
        agent: str | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Asks about a call that is about to run. If it is stopped, do not run it, and give result to the model."""
        told = {"tool": tool, "id": id, "agent": agent, "annotations": annotations}
        return _decision(self._ask("before", _members(told, args)), id)

    def after(
        self,
        tool: str,
        args: object = None,
        result: object = UNSET,
        *,
        id: str | None = None,
        agent: str | None = None,
        error: object = None,
        duration_ms: float | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Tells how a call ended. If the decision has a result, give that to the model instead of the tool's own."""
        told = {"tool": tool, "id": id, "agent": agent, "annotations": annotations, "duration_ms": duration_ms}
        if error is not None:
            told["error"] = cut(wording(error), VALUE_BYTES)
        sent, exact = ("", True) if result is UNSET else freeze(result, VALUE_BYTES)
        answer = self._ask("after", _members(told, args) + (f',"result":{sent}' if sent else ""))
        if not exact and "result" in answer:
            answer["result"] = attach(result, json.loads(sent), answer["result"])
        return _decision(answer, id)

    def text(self, text: str, role: str = "assistant", agent: str | None = None) -> Decision:
        """Tells what somebody said: assistant, user or system."""
        return self._say("text", text, role=role, agent=agent)

    def user(self, text: str | None = None) -> Decision:
        """Tells that a turn begins."""
        return self._say("user", text)

    def progress(self, text: str = "") -> Decision:
        """Tells that the agent got on, and on what, whatever its calls look like."""
        return self._say("progress", text)

    def allow(self, text: str = "") -> Decision:
        """Tells that a person lets the agent go on, and why."""
        return self._say("allow", text)

    def _say(self, op: str, text: str | None, **told: Any) -> Decision:
        told["text"] = None if text is None else cut(str(text), VALUE_BYTES)
        return _decision(self._ask(op, _members(told, None)), None)

    def state(self) -> dict[str, Any]:
        """Returns calls, warnings and health of the run; empty if there is no guard to ask."""
        return _part(self._ask("state", ""), "state")

    def stats(self) -> dict[str, Any]:
        """Returns the run's decisions by action and code; empty if there is no guard to ask."""
        return _part(self._ask("stats", ""), "stats")

    def reset(self) -> bool:
        """Forgets the run, which begins anew."""
        done = bool(self._ask("reset", "").get("ok"))
        self._memory.snapshot, self._memory.asked = "", 0
        return done

    def snapshot(self) -> dict[str, Any]:
        """Returns all that restore needs, in this or another process; empty if there is no guard to ask."""
        return _part(self._ask("snapshot", ""), "snapshot")

    def restore(self, snapshot: Mapping[str, Any]) -> bool:
        """Has the run go on where the snapshot was taken, and says whether it does."""
        told = json.dumps(dict(snapshot))
        done = bool(self._ask("restore", f',"snapshot":{told}').get("ok"))
        if done:
            self._memory.snapshot = told
        return done

    def tool(self, fn: Any = None, *, name: str | None = None, annotations: Mapping[str, Any] | None = None) -> Any:
        """Decorates a tool, plain or async. A call that must not run gives the model's answer without running; when the run must
        end it raises LoopError; a nudge comes with the result."""
        return tool(self, fn, name, annotations)

    def _ask(self, op: str, members: str) -> dict[str, Any]:
        """Returns the answer, or an empty one if there was none."""
        if not self._enabled:
            return {}
        self._why = ""
        try:
            line = f'{{"op":"{op}",{self._head}{members}}}\n'
            answer = self._link.ask(self._memory, line.encode("utf-8", "replace"), self._timeout)
        except Unavailable as error:
            self._why = str(error)
            return {}
        except Exception as error:  # a mistake of ours: the agent goes on
            self._why = type(error).__name__
            say_unguarded(f"the guard went wrong ({self._why})")
            return {}
        if "error" in answer:
            _log.once("refused", "the guard refused a line: %s", _part(answer, "error").get("message"))
        return answer

    _why = ""


def _members(told: Mapping[str, Any], args: object) -> str:
    parts = []
    for name, value in told.items():
        if name == "id" and value is not None:
            value = cut(str(value), MAX_RUN)
        if value is not None:
            parts.append(f',"{name}":{freeze(value, VALUE_BYTES)[0]}')
    if args is not None:
        parts.append(f',"args":{freeze(args, VALUE_BYTES)[0]}')
    return "".join(parts)


def _decision(answer: dict[str, Any], id: str | None) -> Decision:
    if answer.get("action") not in get_args(Action):
        return Decision(code=UNGUARDED, id=id)
    return Decision(
        action=answer["action"],
        code=answer.get("code", ""),
        count=answer.get("count", 0),
        message=answer.get("message", ""),
        result=answer.get("result", UNSET),
        findings=answer.get("findings") or [],
        shadow=answer.get("shadow", ""),
        id=id,
    )


def _part(answer: dict[str, Any], name: str) -> dict[str, Any]:
    part = answer.get(name)
    return part if isinstance(part, dict) else {}


_threads: ThreadPoolExecutor | None = None


async def in_thread(fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Runs fn in a thread of the guard's own, so that a guard that does not answer holds up nobody else."""
    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(8, "unloop-guard")
    try:
        asking = asyncio.get_running_loop().run_in_executor(_threads, lambda: fn(*args, **kwargs))
    except RuntimeError:  # the interpreter is about to end, and begins no thread any more
        return fn(*args, **kwargs)
    return await asking


def _after_fork() -> None:
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class AsyncGuard:
    """Guard for asyncio: the same with await. What it asks never holds up the event loop."""

    def __init__(self, profile: str = "default", **options: Any) -> None:
        """Takes what Guard takes. A strict one may take some milliseconds here."""
        self.sync = Guard(profile, **options)

    @property
    def id(self) -> str:
        return self.sync.id

    def run(self, id: str | None = None) -> AsyncGuard:
        """Returns the guard of another run, which asks the same process or server."""
        other = object.__new__(type(self))
        other.sync = self.sync.run(id)
        return other

    async def __aenter__(self) -> AsyncGuard:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await in_thread(self.sync.close)

    async def close(self) -> None:
        await in_thread(self.sync.close)

    async def before(self, tool: str, args: object = None, **told: Any) -> Decision:
        return await in_thread(self.sync.before, tool, args, **told)

    async def after(self, tool: str, args: object = None, result: object = UNSET, **told: Any) -> Decision:
        return await in_thread(self.sync.after, tool, args, result, **told)

    async def text(self, text: str, role: str = "assistant", agent: str | None = None) -> Decision:
        return await in_thread(self.sync.text, text, role, agent)

    async def user(self, text: str | None = None) -> Decision:
        return await in_thread(self.sync.user, text)

    async def progress(self, text: str = "") -> Decision:
        return await in_thread(self.sync.progress, text)

    async def allow(self, text: str = "") -> Decision:
        return await in_thread(self.sync.allow, text)

    async def state(self) -> dict[str, Any]:
        return await in_thread(self.sync.state)

    async def stats(self) -> dict[str, Any]:
        return await in_thread(self.sync.stats)

    async def reset(self) -> bool:
        return await in_thread(self.sync.reset)

    async def snapshot(self) -> dict[str, Any]:
        return await in_thread(self.sync.snapshot)

    async def restore(self, snapshot: Mapping[str, Any]) -> bool:
        return await in_thread(self.sync.restore, snapshot)

    def tool(self, fn: Any = None, *, name: str | None = None, annotations: Mapping[str, Any] | None = None) -> Any:
        """Decorates a tool, as Guard.tool does."""
        return self.sync.tool(fn, name=name, annotations=annotations)
