"""The threads in which guards of asyncio wait for decisions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

CANCELLED = "cancelled"  # the error of a call whose task was cancelled

_threads: ThreadPoolExecutor | None = None


async def in_thread(fn: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Runs fn in a thread pool of the guard, so that a slow guard does not block the default executor."""
    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(8, "unloop-guard")
    try:
        asking = asyncio.get_running_loop().run_in_executor(_threads, lambda: fn(*args, **kwargs))
    except RuntimeError:  # the interpreter is shutting down and starts no threads
        return fn(*args, **kwargs)
    return await asking


async def in_thread_to_its_end(fn: Callable[..., T], *args: Any, **kwargs: Any) -> None:
    """Runs fn as in_thread does, for a task that is being cancelled. fn runs to its end even if the task is cancelled again."""
    await asyncio.shield(in_thread(fn, *args, **kwargs))


def _after_fork() -> None:
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
