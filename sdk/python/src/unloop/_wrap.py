"""Wraps plain functions, async functions, generators and async generators. A Scope receives the start and end of each call."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

MAX_ITEMS = 1000  # items of a generator that are recorded as its output


class Scope:
    """One call of a wrapped function. Its methods do not raise.

    enter and leave set and reset context variables around the function's own code. For a generator they run once per step, so
    that its caller never sees the variables.
    """

    def enter(self) -> Any:
        return None

    def leave(self, token: Any) -> None:
        pass

    def done(self, result: object) -> None:
        pass

    def failed(self, error: BaseException) -> None:
        pass


Opener = Callable[[tuple[Any, ...], dict[str, Any]], Scope | None]  # None: the call is not recorded


def wrap(fn: Callable[P, R], opener: Opener) -> Callable[P, R]:
    """Returns fn with a scope around each call."""
    if inspect.isasyncgenfunction(fn):
        wrapper: Any = _async_generator(fn, opener)
    elif inspect.isgeneratorfunction(fn):
        wrapper = _generator(fn, opener)
    elif inspect.iscoroutinefunction(fn):
        wrapper = _coroutine(fn, opener)
    else:
        wrapper = _plain(fn, opener)
    return cast("Callable[P, R]", functools.wraps(fn)(wrapper))


def _plain(fn: Callable[..., Any], opener: Opener) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        scope = opener(args, kwargs)
        if scope is None:
            return fn(*args, **kwargs)
        token = scope.enter()
        try:
            result = fn(*args, **kwargs)
        except BaseException as error:
            scope.leave(token)
            scope.failed(error)
            raise
        scope.leave(token)
        if inspect.iscoroutine(result):  # a plain function that returns a coroutine
            return _awaited(lambda: result, scope)
        scope.done(result)
        return result

    return call


async def _awaited(begin: Callable[[], Coroutine[Any, Any, R]], scope: Scope) -> R:
    token = scope.enter()
    try:
        value = await begin()
    except BaseException as error:
        scope.leave(token)
        scope.failed(error)
        raise
    scope.leave(token)
    scope.done(value)
    return value


def _coroutine(fn: Callable[..., Any], opener: Opener) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        scope = opener(args, kwargs)
        if scope is None:
            return await fn(*args, **kwargs)
        return await _awaited(functools.partial(fn, *args, **kwargs), scope)

    return call


class _Items:
    """The items that a generator yielded, as its output."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.more = 0

    def add(self, item: Any) -> None:
        if len(self.items) < MAX_ITEMS:
            self.items.append(item)
        else:
            self.more += 1

    def output(self) -> object:
        return [*self.items, f"… [{self.more} more]"] if self.more else self.items


@contextlib.contextmanager
def _closing(scope: Scope, items: _Items) -> Iterator[None]:
    """Wraps the closing of a generator that its caller left early. The generator's code runs once more and may fail."""
    token = scope.enter()
    try:
        yield
    except BaseException as error:
        scope.leave(token)
        scope.failed(error)
        raise
    scope.leave(token)
    scope.done(items.output())


def _generator(fn: Callable[..., Any], opener: Opener) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        scope = opener(args, kwargs)
        if scope is None:
            return (yield from fn(*args, **kwargs))
        inner, items = fn(*args, **kwargs), _Items()
        step: Callable[[], Any] = functools.partial(next, inner)
        while True:
            token = scope.enter()
            try:
                item = step()
            except StopIteration as end:
                scope.leave(token)
                scope.done(items.output())
                return end.value
            except BaseException as error:
                scope.leave(token)
                scope.failed(error)
                raise
            scope.leave(token)
            items.add(item)
            try:
                step = functools.partial(inner.send, (yield item))
            except GeneratorExit:
                with _closing(scope, items):
                    inner.close()
                raise
            except BaseException as error:
                step = functools.partial(inner.throw, error)

    return call


def _async_generator(fn: Callable[..., Any], opener: Opener) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
        scope = opener(args, kwargs)
        inner, items = fn(*args, **kwargs), _Items()
        if scope is None:
            scope = Scope()
        step: Callable[[], Any] = functools.partial(inner.asend, None)
        while True:
            token = scope.enter()
            try:
                item = await step()
            except StopAsyncIteration:
                scope.leave(token)
                scope.done(items.output())
                return
            except BaseException as error:
                scope.leave(token)
                scope.failed(error)
                raise
            scope.leave(token)
            items.add(item)
            try:
                step = functools.partial(inner.asend, (yield item))
            except GeneratorExit:
                with _closing(scope, items):
                    await inner.aclose()
                raise
            except BaseException as error:
                step = functools.partial(inner.athrow, error)

    return call
