"""@observe records the calls of a function as events."""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from . import _core
from ._run import Run, TraceScope, count_ignored, current_agent, current_run, is_normal_exit
from ._unset import UNSET
from ._wrap import Opener, Scope, wrap

P = ParamSpec("P")
R = TypeVar("R")

Kind = Literal["tool", "agent", "llm", "chain"]
_prefixes = {"tool": "tool_call", "llm": "llm_call", "agent": "agent", "chain": "chain"}


@overload
def observe(fn: Callable[P, R], *, kind: Kind = "tool", name: str | None = None) -> Callable[P, R]: ...
@overload
def observe(fn: None = None, *, kind: Kind = "tool", name: str | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def observe(fn: Callable[..., Any] | None = None, *, kind: Kind = "tool", name: str | None = None) -> Any:
    """Records each call of a function: one event with its arguments at the start, and one with its outcome at the end.

    It supports plain and async functions, and generators of both kinds. The kinds "tool" and "llm" are calls of tools and
    models. Within a call of kind "agent", all events carry that agent's name; without a current run the call is a run. The
    kind "chain" is any other step. Raises ValueError for another kind.
    """
    if kind not in _prefixes:
        raise ValueError(f"invalid kind {kind!r}: want one of {', '.join(_prefixes)}")
    if fn is None:
        return lambda fn: observe(fn, kind=kind, name=name)
    return wrap(fn, _opener(fn, kind, name or getattr(fn, "__name__", "") or type(fn).__name__))


def _opener(fn: Callable[..., Any], kind: Kind, name: str) -> Opener:
    parameters = parameters_of(fn)

    def open(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Scope | None:
        if not _core.settings().enabled:
            return None
        run = current_run()
        if run is None and kind == "agent":
            return _AgentRun(Run(name), name, parameters, args, kwargs)
        if run is None:
            count_ignored()
            return None
        return _Call(run, kind, name, arguments(parameters, args, kwargs))

    return open


class _Call(Scope):
    """One observed call."""

    def __init__(self, run: Run, kind: Kind, name: str, input: object) -> None:
        self.run, self.name, self.agent = run, name, name if kind == "agent" else None
        self.prefix = _prefixes[kind]
        self.named: dict[str, Any] = {"tool": name} if kind == "tool" else {"model": name} if kind == "llm" else {"name": name}
        self.call_id = secrets.token_hex(6)
        self.started_at = time.perf_counter()
        run.event(self.prefix + "_started", call_id=self.call_id, input=input, agent=self.agent, **self.named)

    def enter(self) -> Any:
        return current_agent.set(self.agent) if self.agent else None

    def leave(self, token: Any) -> None:
        if token is not None:
            current_agent.reset(token)

    def done(self, result: object) -> None:
        self._end("_completed", output=result)

    def failed(self, error: BaseException) -> None:
        if is_normal_exit(error):
            self._end("_completed", output=UNSET)
        else:
            self._end("_failed", error=error)

    def _end(self, how: str, **outcome: Any) -> None:
        elapsed_ms = (time.perf_counter() - self.started_at) * 1000
        self.run.event(self.prefix + how, call_id=self.call_id, latency_ms=elapsed_ms, agent=self.agent, **self.named, **outcome)


class _AgentRun(Scope):
    """A call of an agent outside of any run: the call itself is the run."""

    def __init__(self, run: Run, name: str, parameters: list[str], args: Any, kwargs: Any) -> None:
        self.outer = TraceScope(run)
        self.inner = _Call(run, "agent", name, arguments(parameters, args, kwargs))

    def enter(self) -> Any:
        return self.outer.enter(), self.inner.enter()

    def leave(self, token: Any) -> None:
        self.inner.leave(token[1])
        self.outer.leave(token[0])

    def done(self, result: object) -> None:
        self.inner.done(result)
        self.outer.done(result)

    def failed(self, error: BaseException) -> None:
        self.inner.failed(error)
        self.outer.failed(error)


def parameters_of(fn: Callable[..., Any]) -> list[str]:
    """Returns the names of the positional parameters, or [] if fn has no signature."""
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def arguments(parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns the arguments of a call by name, without self and cls."""
    named = dict(zip(parameters, args, strict=False))
    if len(args) > len(parameters):
        named["args"] = args[len(parameters) :]
    named.update(kwargs)
    if parameters and parameters[0] in ("self", "cls"):
        named.pop(parameters[0], None)
    return named
