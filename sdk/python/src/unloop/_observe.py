"""@observe: a function's calls as events."""

from __future__ import annotations

import inspect
import secrets
import time
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

from . import _core
from ._run import Run, TraceScope, current_agent, current_run, harmless, ignored
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
    """Tells each call of a function: that it began with which arguments, and how it ended. For plain and async functions and
    generators.

    Kinds: "tool" and "llm" are calls of tools and models; "agent" gives the events within the call the name of that agent, and
    is a run of its own where there is none; "chain" is any other step.
    """
    if kind not in _prefixes:
        raise ValueError(f"kind: {kind!r} is none of {', '.join(_prefixes)}")
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
            ignored()
            return None
        return _Call(run, kind, name, arguments(parameters, args, kwargs))

    return open


class _Call(Scope):
    """One call that is observed."""

    def __init__(self, run: Run, kind: Kind, name: str, input: object) -> None:
        self.run, self.name, self.agent = run, name, name if kind == "agent" else None
        self.prefix = _prefixes[kind]
        self.named: dict[str, Any] = {"tool": name} if kind == "tool" else {"model": name} if kind == "llm" else {"name": name}
        self.call_id = secrets.token_hex(6)
        self.began = time.perf_counter()
        run.event(self.prefix + "_started", call_id=self.call_id, input=input, agent=self.agent, **self.named)

    def enter(self) -> Any:
        return current_agent.set(self.agent) if self.agent else None

    def leave(self, token: Any) -> None:
        if token is not None:
            current_agent.reset(token)

    def done(self, result: object) -> None:
        self._end("_completed", output=result)

    def failed(self, error: BaseException) -> None:
        if harmless(error):
            self._end("_completed", output=UNSET)
        else:
            self._end("_failed", error=error)

    def _end(self, how: str, **outcome: Any) -> None:
        took = (time.perf_counter() - self.began) * 1000
        self.run.event(self.prefix + how, call_id=self.call_id, latency_ms=took, agent=self.agent, **self.named, **outcome)


class _AgentRun(Scope):
    """An agent that nobody runs but the program itself: its call is a run."""

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
    """Returns the names of the positional parameters."""
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def arguments(parameters: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Returns what a call was given, by name. The object whose method is called is none of its arguments."""
    named = dict(zip(parameters, args, strict=False))
    if len(args) > len(parameters):
        named["args"] = args[len(parameters) :]
    named.update(kwargs)
    if parameters and parameters[0] in ("self", "cls"):
        named.pop(parameters[0], None)
    return named
