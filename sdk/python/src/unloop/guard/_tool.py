"""The decorator @guard.tool."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from .._observe import arguments, parameters_of
from .._serialize import error_text, truncate
from .._unset import UNSET
from ._decision import VALUE_BYTES, Decision
from ._threads import CANCELLED, in_thread, in_thread_to_its_end


class CallGuard(Protocol):
    """What the decorator needs of a guard."""

    def before(self, tool: str, args: object = None, *, id: str | None, annotations: Mapping[str, Any] | None) -> Decision: ...

    def after(
        self,
        tool: str,
        args: object = None,
        result: object = UNSET,
        *,
        id: str | None,
        error: object = None,
        duration_ms: float | None,
        annotations: Mapping[str, Any] | None,
    ) -> Decision: ...

    async def _resumed(self) -> None: ...


def tool(guard: CallGuard, fn: Any, name: str | None, annotations: Mapping[str, Any] | None) -> Any:
    """Decorates fn, or returns a decorator if fn is None."""
    if fn is None:
        return lambda fn: tool(guard, fn, name, annotations)
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise TypeError("guard.tool does not support generators: call before() and after() instead")
    calls = _Calls(guard, fn, name or getattr(fn, "__name__", "") or type(fn).__name__, annotations)
    return functools.wraps(fn)(calls.asynchronous() if inspect.iscoroutinefunction(fn) else calls.plain())


class _Calls:
    """The calls of one tool with one guard."""

    def __init__(self, guard: CallGuard, fn: Any, name: str, annotations: Mapping[str, Any] | None) -> None:
        self.guard, self.fn, self.name, self.annotations = guard, fn, name, annotations
        self.parameters = parameters_of(fn)

    def plain(self) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            fields = self._call_fields(args, kwargs)
            decision = self.guard.before(self.name, **fields).check()
            if decision.stopped:
                return decision.result
            started_at = time.perf_counter()
            try:
                result = self.fn(*args, **kwargs)
            except Exception as error:
                _attach_to_error(error, self.guard.after(self.name, **fields, error=error, **_duration(started_at)))
                raise
            if inspect.iscoroutine(result):  # a plain function that returns a coroutine
                return self._awaited(result, fields, started_at)
            return _result_or_nudged(result, self.guard.after(self.name, result=result, **fields, **_duration(started_at)))

        return call

    def asynchronous(self) -> Callable[..., Any]:
        async def call(*args: Any, **kwargs: Any) -> Any:
            fields = self._call_fields(args, kwargs)
            await self.guard._resumed()
            decision = (await in_thread(self.guard.before, self.name, **fields)).check()
            if decision.stopped:
                return decision.result
            started_at = time.perf_counter()
            return await self._awaited(self.fn(*args, **kwargs), fields, started_at)

        return call

    async def _awaited(self, running: Awaitable[Any], fields: dict[str, Any], started_at: float) -> Any:
        try:
            result = await running
        except asyncio.CancelledError:
            await in_thread_to_its_end(self.guard.after, self.name, **fields, error=CANCELLED, **_duration(started_at))
            raise
        except Exception as error:
            _attach_to_error(error, await in_thread(self.guard.after, self.name, **fields, error=error, **_duration(started_at)))
            raise
        return _result_or_nudged(
            result, await in_thread(self.guard.after, self.name, result=result, **fields, **_duration(started_at))
        )

    def _call_fields(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        named = arguments(self.parameters, args, kwargs)
        return {"args": named, "id": secrets.token_hex(8), "annotations": self.annotations}


def _duration(started_at: float) -> dict[str, Any]:
    return {"duration_ms": (time.perf_counter() - started_at) * 1000}


def _result_or_nudged(result: Any, decision: Decision) -> Any:
    decision.check()
    return result if decision.result is UNSET else decision.result


def _attach_to_error(error: Exception, decision: Decision) -> None:
    """Appends the nudge, if there is one, to the error's text, which frameworks pass to the model. An error that cannot be
    changed, or that has no text, stays as it is."""
    decision.check()
    if not isinstance(decision.result, str):
        return
    with contextlib.suppress(Exception):
        _append(error, decision.result)


def _append(error: Exception, result: str) -> None:
    message = str(error)
    nudge = result.removeprefix(truncate(error_text(error), VALUE_BYTES)).strip()
    if error.args == (message,):
        error.args = (f"{message} {nudge}",)
    elif sys.version_info >= (3, 11):
        error.add_note(nudge)
