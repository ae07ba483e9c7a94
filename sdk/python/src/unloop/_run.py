"""Runs: the events of an agent from a question to its answer. A Run passes events to the sender. It never blocks and never
raises into the agent. The current run belongs to the context (contextvars), so each thread and task has its own."""

from __future__ import annotations

import contextlib
import datetime
import itertools
import math
import os
import secrets
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from . import _core, _log
from ._serialize import digest, error_text, quote, redact, serialize, shorten, truncate
from ._unset import UNSET
from ._wrap import Scope, wrap

P = ParamSpec("P")
R = TypeVar("R")

# Token counts of a model call. The input includes the cached and cache write tokens, and the output the reasoning tokens.
USAGE = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens")
MAX_NAME = 512  # bytes of a name or an id; the limit of the server

_observed: weakref.WeakValueDictionary[str, Run] = weakref.WeakValueDictionary()  # runs that have not ended, by id
_current: ContextVar[Run | None] = ContextVar("unloop_run", default=None)
current_agent: ContextVar[str | None] = ContextVar("unloop_agent", default=None)


def current_run() -> Run | None:
    """Returns the run of this context, or None.

    A run that an adapter began and ended is not returned: a tool that was cancelled may have left it in the context of the task.
    """
    run = _current.get()
    return None if run is not None and run._ended and not run._tokens else run


def observed_run(id: str) -> Run | None:
    """Returns the run with the id that this process records and that has not ended, or None."""
    return _observed.get(id)


def event(type: str, **fields: Any) -> str | None:
    """Records an event of the current run and returns its id. Without a run the event is counted as ignored, and None returned.

    The fields are those of Run.event.
    """
    run = _current.get()
    if run is None:
        count_ignored()
        return None
    try:
        return run.event(type, **fields)
    except TypeError as error:  # an unknown field, which the error names
        _log.warn_once("fields", "event not recorded: %s", error)
        return None


def count_ignored() -> None:
    """Counts an event without a run."""
    if _core.settings().enabled:
        _core.sender().ignore()
        _log.warn_once("ignored", "event ignored: no current run; start one with unloop.trace(name)")


def trace(name: str, *, id: str | None = None, project: str | None = None, metadata: Mapping[str, Any] | None = None) -> Run:
    """Returns a run for with, async with, or use as a decorator, where each call is a run.

    An exception ends the run as failed and propagates. A trace within a trace is a separate run with parent_run_id in its
    metadata. If both have the same id they are one run, which ends with the outer trace. Without an id a random one is used.
    """
    return Run(name, id=id, project=project, metadata=metadata)


class Run:
    """A run of an agent. Its methods are safe for concurrent use, never raise and never block."""

    def __init__(
        self, name: str, *, id: str | None = None, project: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        self.name = _name(name) or "run"
        self.id = _name(id) if id else secrets.token_hex(12)
        self.project = project
        self.metadata = metadata
        self._id_given = bool(id)
        self._enabled = _core.settings().enabled
        self._common = ""
        self._ended = False
        self._tokens: list[Token[Run | None] | None] = []

    @classmethod
    def begin(
        cls, name: str, *, id: str | None = None, project: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> Run:
        """Starts a run without making it the current one. end() ends it."""
        run = cls(name, id=id, project=project, metadata=metadata)
        run._begin()
        return run

    def _begin(self) -> None:
        self._ended = False
        _observed[self.id] = self
        self.event("run_started", name=self.name, metadata=self.metadata)

    def event(
        self,
        type: str,
        *,
        event_id: str | None = None,
        agent: str | None = None,
        name: str | None = None,
        tool: str | None = None,
        call_id: str | None = None,
        model: str | None = None,
        input: object = UNSET,
        output: object = UNSET,
        error: object = UNSET,
        tokens: int | None = None,
        usage: Mapping[str, int] | None = None,
        cost: float | None = None,
        latency_ms: float | None = None,
        role: str | None = None,
        text: str | None = None,
        status: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        parent_event_id: str | None = None,
        timestamp: float | datetime.datetime | None = None,
    ) -> str:
        """Records an event and returns its id, or "" if the package is disabled or the event cannot be recorded.

        Values are serialized now, so later changes have no effect. cost is in US dollars, latency_ms in milliseconds, and
        timestamp a datetime or seconds since 1970; the default is now. usage holds the counts input_tokens, output_tokens,
        cached_input_tokens, cache_write_tokens and reasoning_tokens; the first includes both cache counts, and the second the
        reasoning tokens.
        """
        if not self._enabled:
            return ""
        try:
            sent_id = _name(event_id) if event_id else f"{_id_prefix}-{next(_id_counter)}"
            fields = _Fields(_core.settings(), self._common_json(), type)
            fields.names(agent or current_agent.get(), name, tool, call_id, model, role, status, parent_event_id)
            if tokens is not None or cost is not None or latency_ms is not None:
                fields.numbers(tokens, cost, latency_ms)
            fields.contents(input, output, error, role, text)
            if usage:
                fields.usage(usage)
            if metadata:
                fields.value("metadata", metadata)
            fields.time(timestamp)
            quoted = sent_id if event_id is None else quote(sent_id)[1:-1]
            _core.sender().put(quoted, fields.line())
            return sent_id
        except Exception as failure:  # an internal error or an unserializable value must not stop the agent
            _log.warn_once("event", "event not recorded: %s", failure.__class__.__name__)
            return ""

    def _common_json(self) -> str:
        """Returns the JSON members that all events of the run share."""
        if not self._common:
            project = self.project or _core.settings().project
            of = f',"project":{quote(_name(project))}' if project else ""
            self._common = f'"run_id":{quote(self.id)}{of}'
        return self._common

    def end(self, *, error: object = None, status: str | None = None) -> None:
        """Ends the run: as failed if error is not None, else as completed. Further calls do nothing."""
        if self._ended:
            return
        self._ended = True
        _observed.pop(self.id, None)
        if error is None:
            self.event("run_completed", name=self.name, status=status)
        else:
            self.event("run_failed", name=self.name, status=status, error=error)

    @contextlib.contextmanager
    def activate(self) -> Iterator[Run]:
        """Makes this run the current one in a with block, for example in a thread that was started without the context."""
        token = _current.set(self)
        try:
            yield self
        finally:
            with contextlib.suppress(ValueError):  # a generator may end in another context
                _current.reset(token)

    def __enter__(self) -> Run:
        outer = _current.get()
        if outer is not None and outer.id == self.id:
            self._tokens.append(None)
            return outer
        if outer is not None:
            self.metadata = {"parent_run_id": outer.id, **(self.metadata or {})}
        self._begin()
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        token = self._tokens.pop() if self._tokens else None
        if token is None:
            return
        with contextlib.suppress(ValueError):
            _current.reset(token)
        self.end(error=None if is_normal_exit(error) else error)

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def __call__(self, fn: Callable[P, R]) -> Callable[P, R]:
        """Decorates fn: each call is a run."""
        return wrap(fn, lambda args, kwargs: TraceScope(self._copy()))

    def _copy(self) -> Run:
        run_id = self.id if self._id_given else None
        return Run(self.name, id=run_id, project=self.project, metadata=self.metadata)


class TraceScope(Scope):
    """A call of a decorated function, as a run."""

    def __init__(self, run: Run) -> None:
        outer = _current.get()
        self.joined = outer is not None and outer.id == run.id
        self.run = run
        if outer is not None and not self.joined:
            run.metadata = {"parent_run_id": outer.id, **(run.metadata or {})}
        if not self.joined:
            run._begin()

    def enter(self) -> object:
        return None if self.joined else _current.set(self.run)

    def leave(self, token: Any) -> None:
        if token is not None:
            _current.reset(token)

    def done(self, result: object) -> None:
        if not self.joined:
            self.run.end()

    def failed(self, error: BaseException) -> None:
        if not self.joined:
            self.run.end(error=None if is_normal_exit(error) else error)


def is_normal_exit(error: BaseException | None) -> bool:
    """Reports whether a function ended without failing: no error, a closed generator, or sys.exit with status 0."""
    return error is None or isinstance(error, GeneratorExit) or (isinstance(error, SystemExit) and not error.code)


# Event ids are unique across processes, including a forked child that continues the run of its parent.
_id_prefix = secrets.token_hex(5)
_id_counter = itertools.count(1)


def _after_fork() -> None:
    global _id_prefix
    _id_prefix = secrets.token_hex(5)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


_names = ("agent", "name", "tool", "call_id", "model", "role", "status", "parent_event_id")


class _Fields:
    """Builds the JSON of one event."""

    def __init__(self, settings: Any, head: str, type: str) -> None:
        self.settings = settings
        self.parts = [head, f'"type":{quote(_name(type))}']

    def names(self, *names: str | None) -> None:
        """Adds the names that are set, in the order of _names."""
        for field, name in zip(_names, names, strict=True):
            if name:
                self.parts.append(f'"{field}":{quote(_name(name))}')

    def numbers(self, tokens: int | None, cost: float | None, latency_ms: float | None) -> None:
        if tokens is not None:
            self.parts.append(f'"tokens":{min(max(int(tokens), 0), (1 << 63) - 1)}')
        for field, number in (("cost", cost), ("latency_ms", latency_ms)):
            if number is not None and math.isfinite(number):
                self.parts.append(f'"{field}":{float(number)!r}')

    def usage(self, usage: Mapping[str, int]) -> None:
        counts = {name: min(int(n), (1 << 63) - 1) for name in USAGE if isinstance(n := usage.get(name), int) and n > 0}
        if counts:
            self.value("usage", counts)

    def contents(self, input: object, output: object, error: object, role: str | None, text: str | None) -> None:
        inputs, outputs = self.settings.capture_inputs, self.settings.capture_outputs
        if input is not UNSET:
            self.value("input", input, inputs)
        if output is not UNSET:
            self.value("output", output, outputs)
        if error is not UNSET and error is not None:
            self.error(error, outputs)
        if text is not None:
            captured = inputs if role == "user" else outputs
            serialized = truncate(text, self.settings.value_bytes) if captured else f"[{len(text)} characters, {digest(text)}]"
            self.parts.append(f'"text":{quote(serialized)}')

    def value(self, field: str, value: object, captured: bool = True) -> None:
        serialized = serialize(value, self.settings.value_bytes)[0] if captured else redact(value)
        self.parts.append(f'"{field}":{serialized}')

    def error(self, error: object, captured: bool) -> None:
        if isinstance(error, BaseException):
            message = error_text(error)
            error = message if captured else f"{type(error).__name__}: [{digest(message)}]"
            captured = True
        self.value("error", error, captured)

    def time(self, timestamp: float | datetime.datetime | None) -> None:
        if isinstance(timestamp, datetime.datetime):
            timestamp = timestamp.timestamp()  # a datetime without a zone is local time
        if timestamp is None or not math.isfinite(timestamp):
            timestamp = time.time()
        self.parts.append(f'"timestamp":{timestamp:.6f}')

    def line(self) -> bytes:
        text = ",".join(self.parts) + "}\n"
        try:
            return text.encode()
        except UnicodeEncodeError:  # a lone surrogate
            return text.encode("utf-8", "replace")


def _name(text: object) -> str:
    if type(text) is str and len(text) <= MAX_NAME // 4:  # no character has more than four bytes
        return text
    return shorten(text if isinstance(text, str) else str(text), MAX_NAME)
