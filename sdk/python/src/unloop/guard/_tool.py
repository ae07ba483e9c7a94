"""@guard.tool."""

from __future__ import annotations

import functools
import inspect
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from .._freeze import cut, wording
from .._observe import arguments, parameters_of
from .._unset import UNSET
from ._decision import VALUE_BYTES, Decision

if TYPE_CHECKING:
    from ._guard import Guard


def tool(guard: Guard, fn: Any, name: str | None, annotations: Mapping[str, Any] | None) -> Any:
    """Decorates fn, or returns the decorator if there is none."""
    if fn is None:
        return lambda fn: tool(guard, fn, name, annotations)
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise TypeError("a generator is no tool that a guard can stop: ask before() and tell after() by hand")
    calls = _Calls(guard, fn, name or getattr(fn, "__name__", "") or type(fn).__name__, annotations)
    return functools.wraps(fn)(calls.asynchronous() if inspect.iscoroutinefunction(fn) else calls.plain())


class _Calls:
    """The calls of one tool under one guard."""

    def __init__(self, guard: Guard, fn: Any, name: str, annotations: Mapping[str, Any] | None) -> None:
        self.guard, self.fn, self.name, self.annotations = guard, fn, name, annotations
        self.parameters = parameters_of(fn)

    def plain(self) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            told = self._told(args, kwargs)
            decision = self.guard.before(self.name, **told).check()
            if decision.stopped:
                return decision.result
            began = time.perf_counter()
            try:
                result = self.fn(*args, **kwargs)
            except Exception as error:
                _nudge(error, self.guard.after(self.name, **told, error=error, **_took(began)))
                raise
            if inspect.iscoroutine(result):  # of an async tool in the dress of a plain one
                return self._awaited(result, told, began)
            return _given(result, self.guard.after(self.name, result=result, **told, **_took(began)))

        return call

    def asynchronous(self) -> Callable[..., Any]:
        from ._guard import in_thread

        async def call(*args: Any, **kwargs: Any) -> Any:
            told = self._told(args, kwargs)
            decision = (await in_thread(self.guard.before, self.name, **told)).check()
            if decision.stopped:
                return decision.result
            began = time.perf_counter()
            return await self._awaited(self.fn(*args, **kwargs), told, began)

        return call

    async def _awaited(self, running: Awaitable[Any], told: dict[str, Any], began: float) -> Any:
        from ._guard import in_thread

        try:
            result = await running
        except Exception as error:
            _nudge(error, await in_thread(self.guard.after, self.name, **told, error=error, **_took(began)))
            raise
        return _given(result, await in_thread(self.guard.after, self.name, result=result, **told, **_took(began)))

    def _told(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        given = arguments(self.parameters, args, kwargs)
        return {"args": given, "id": secrets.token_hex(8), "annotations": self.annotations}


def _took(began: float) -> dict[str, Any]:
    return {"duration_ms": (time.perf_counter() - began) * 1000}


def _given(result: Any, decision: Decision) -> Any:
    decision.check()
    return result if decision.result is UNSET else decision.result


def _nudge(error: Exception, decision: Decision) -> None:
    """Puts the nudge, if there is one, where a model will read it: frameworks give it the error's text."""
    decision.check()
    if not isinstance(decision.result, str):
        return
    said = str(error)
    nudge = decision.result.removeprefix(cut(wording(error), VALUE_BYTES)).strip()
    if error.args == (said,):
        error.args = (f"{said} {nudge}",)
    elif sys.version_info >= (3, 11):
        error.add_note(nudge)
