"""Guard and AsyncGuard, the interface for an agent's code."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal, get_args

from .. import _core, _log
from .._serialize import error_text, quote, serialize, to_text, truncate
from .._unset import UNSET
from ._attach import attach
from ._choose import HELP, transport_for
from ._decision import UNGUARDED, VALUE_BYTES, Action, Decision, GuardUnavailable
from ._report import report
from ._threads import in_thread
from ._tool import tool
from ._transport import Transport, Unavailable, log_unguarded

MAX_RUN = 200  # bytes of a run's name
PAUSE_SECONDS = 0.1  # between two looks at whether a paused run may continue
START_SECONDS = 5.0  # least timeout of the first request, which may start a process


class Guard:
    """Guards one run. Safe for concurrent use.

    Only decorated tools raise into the agent, and only LoopError. A guard that becomes unavailable later does not stop the agent:
    until it is back, every decision is "allow" with the code "unguarded".
    """

    def __init__(
        self,
        profile: str = "default",
        *,
        settings: Mapping[str, Any] | None = None,
        endpoint: str | None = None,
        token: str | None = None,
        run: str | None = None,
        timeout: float = 2.0,
        on_missing: Literal["refuse", "warn"] = "refuse",
    ) -> None:
        """Creates a guard for the run with id run; the default is a random id. If the package records a run with this id, the
        server shows what the guard decides, and people can give it orders.

        Without an endpoint, decisions come from a child process that all guards with this profile and these settings share, or
        from the server of the package's settings (UNLOOP_ENDPOINT) if the program is not installed. timeout is the limit for one
        decision in seconds. token defaults to the token of the package's settings.

        Raises GuardUnavailable if no guard answers within 5 seconds. With on_missing="warn" this is logged, and the agent runs
        unguarded until there is one.
        """
        if on_missing not in ("refuse", "warn"):
            raise ValueError(f'on_missing is {on_missing!r}: want "refuse" or "warn"')
        self._timeout = timeout
        self._enabled = _core.settings().enabled
        self._transport: Transport = transport_for(profile, settings, endpoint, token)
        self._set_run(run)
        if self._enabled:
            self._start(on_missing)

    def _set_run(self, run: str | None) -> None:
        self.id = (
            truncate(run, MAX_RUN // 4) if run and len(run.encode("utf-8", "replace")) > MAX_RUN else run or secrets.token_hex(8)
        )
        self._run_state = self._transport.run_state(self.id)
        self._head = f'"run":{quote(self.id)}'

    def _start(self, on_missing: str) -> None:
        """Asks the guard for the first time. If it refuses, no agent runs unguarded, so nothing is logged."""
        if on_missing == "refuse":
            _log.skip_warning("unguarded")
        answer = self._ask("stats", "", max(self._timeout, START_SECONDS))
        if on_missing == "refuse":
            _log.reset_warning("unguarded")
        if on_missing == "refuse" and (not answer or "error" in answer):
            raise GuardUnavailable(f"no guard is available: {self._unavailable_reason or 'it rejects requests'} ({HELP})")

    def run(self, id: str | None = None) -> Guard:
        """Returns the guard of another run on the same process or server."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set_run(id)
        return other

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Deletes the run in the guard."""
        if self._run_state.generation is not None:
            self.reset()
        self._transport.drop(self.id)

    def before(
        self,
        tool: str,
        args: object = None,
        *,
        id: str | None = None,
        agent: str | None = None,
        annotations: Mapping[str, Any] | None = None,
    ) -> Decision:
        """Returns the decision about a call before it runs.

        If the decision is stopped, do not run the call, and pass the decision's result to the model. While a person has paused
        the run, it waits.
        """
        self._run_state.running.wait()
        fields = {"tool": tool, "id": id, "agent": agent, "annotations": annotations}
        return self._decided("before", _members(fields, args), id)

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
        """Reports the outcome of a call. If the decision has a result, pass it to the model instead of the tool's result.

        duration_ms is in milliseconds.
        """
        fields = {"tool": tool, "id": id, "agent": agent, "annotations": annotations, "duration_ms": duration_ms}
        if error is not None:
            fields["error"] = truncate(error_text(error), VALUE_BYTES)
        sent, exact = ("", True) if result is UNSET else serialize(result, VALUE_BYTES)
        answer = self._ask("after", _members(fields, args) + (f',"result":{sent}' if sent else ""))
        if not exact and "result" in answer:
            answer["result"] = attach(result, json.loads(sent), answer["result"])
        return report(self._run_state, self._transport, _decision(answer, id))

    def text(self, text: str, role: str = "assistant", agent: str | None = None) -> Decision:
        """Reports a message. role is assistant, user or system."""
        return self._send_text("text", text, role=role, agent=agent)

    def user(self, text: str | None = None) -> Decision:
        """Reports that the user starts a turn, with the user's text if it is known."""
        return self._send_text("user", text)

    def progress(self, text: str = "") -> Decision:
        """Reports that the agent made progress, with an optional description."""
        return self._send_text("progress", text)

    def allow(self, text: str = "") -> Decision:
        """Reports that a person allows the agent to continue, with an optional reason."""
        return self._send_text("allow", text)

    def _send_text(self, op: str, text: str | None, **fields: Any) -> Decision:
        fields["text"] = None if text is None else truncate(to_text(text), VALUE_BYTES)
        return self._decided(op, _members(fields, None), None)

    async def _resumed(self) -> None:
        """Waits while a person has paused the run, without a thread."""
        while not self._run_state.running.is_set():
            await asyncio.sleep(PAUSE_SECONDS)

    def _decided(self, op: str, members: str, id: str | None) -> Decision:
        return report(self._run_state, self._transport, _decision(self._ask(op, members), id))

    def state(self) -> dict[str, Any]:
        """Returns calls, warnings and health of the run; empty if no guard is available."""
        return _object_member(self._ask("state", ""), "state")

    def stats(self) -> dict[str, Any]:
        """Returns the counts of the run's decisions by action and code; empty if no guard is available."""
        return _object_member(self._ask("stats", ""), "stats")

    def reset(self) -> bool:
        """Clears the run's history. Returns whether the guard did it."""
        done = bool(self._ask("reset", "").get("ok"))
        self._run_state.snapshot, self._run_state.lines_since_snapshot = "", 0
        return done

    def snapshot(self) -> dict[str, Any]:
        """Returns the run's state for restore, in this or another process; empty if no guard is available."""
        return _object_member(self._ask("snapshot", ""), "snapshot")

    def restore(self, snapshot: Mapping[str, Any]) -> bool:
        """Sets the run to the state of the snapshot. Returns whether the guard did it."""
        serialized = json.dumps(dict(snapshot))
        done = bool(self._ask("restore", f',"snapshot":{serialized}').get("ok"))
        if done:
            self._run_state.snapshot = serialized
        return done

    def tool(self, fn: Any = None, *, name: str | None = None, annotations: Mapping[str, Any] | None = None) -> Any:
        """Decorates a plain or async tool.

        A blocked call returns the decision's result without running the tool. A nudge is attached to the tool's result. When
        the run must end, the call raises LoopError. Raises TypeError for generators.
        """
        return tool(self, fn, name, annotations)

    def _ask(self, op: str, members: str, timeout: float | None = None) -> dict[str, Any]:
        """Returns the response, or an empty dict if there is none."""
        if not self._enabled:
            return {}
        self._unavailable_reason = ""
        try:
            line = f'{{"op":"{op}",{self._head}{members}}}\n'
            answer = self._transport.ask(self._run_state, line.encode("utf-8", "replace"), timeout or self._timeout)
        except Unavailable as error:
            self._unavailable_reason = str(error)
            return {}
        except Exception as error:  # an internal error must not stop the agent
            self._unavailable_reason = type(error).__name__
            log_unguarded(f"internal error in the guard ({self._unavailable_reason})")
            return {}
        if "error" in answer:
            _log.warn_once("refused", "the guard rejected a request: %s", _object_member(answer, "error").get("message"))
        return answer

    _unavailable_reason = ""


def _members(fields: Mapping[str, Any], args: object) -> str:
    parts = []
    for name, value in fields.items():
        if name == "id" and value is not None:
            value = truncate(to_text(value), MAX_RUN)
        if value is not None:
            parts.append(f',"{name}":{serialize(value, VALUE_BYTES)[0]}')
    if args is not None:
        parts.append(f',"args":{serialize(args, VALUE_BYTES)[0]}')
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


def _object_member(answer: dict[str, Any], name: str) -> dict[str, Any]:
    part = answer.get(name)
    return part if isinstance(part, dict) else {}


class AsyncGuard:
    """Guard for asyncio: the methods of Guard with await. They never block the event loop."""

    def __init__(self, profile: str = "default", **options: Any) -> None:
        """Takes the arguments of Guard. It blocks while the guard starts, for some milliseconds."""
        self.sync = Guard(profile, **options)

    @property
    def id(self) -> str:
        return self.sync.id

    def run(self, id: str | None = None) -> AsyncGuard:
        """Returns the guard of another run on the same process or server."""
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

    async def before(self, tool: str, args: object = None, **fields: Any) -> Decision:
        await self.sync._resumed()
        return await in_thread(self.sync.before, tool, args, **fields)

    async def after(self, tool: str, args: object = None, result: object = UNSET, **fields: Any) -> Decision:
        return await in_thread(self.sync.after, tool, args, result, **fields)

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
        """Decorates a plain or async tool, as Guard.tool does."""
        return self.sync.tool(fn, name=name, annotations=annotations)
