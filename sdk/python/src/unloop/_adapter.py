"""Shared code of the framework adapters: it reads calls, results and usage, and never raises into the agent."""

from __future__ import annotations

import functools
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from ._log import warn_once
from ._run import USAGE

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

MAX_TEXT = 1 << 20  # longest text that is parsed, in characters
_HANDOFF_PREFIXES = ("transfer_back_to_", "transfer_to_", "handoff_to_")


class BoundedDict(OrderedDict[str, V]):
    """A dict of at most 10,000 entries. Entries that are never removed would accumulate, so the oldest is evicted."""

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > 10_000:
            self.popitem(last=False)


def never_raises(call: Callable[P, T]) -> Callable[P, T | None]:
    """Wraps a function that reads a framework's objects: it returns None where the function raises, and logs that once."""

    @functools.wraps(call)
    def safe(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            log_unread(call, error)
            return None

    return safe


def log_unread(call: Callable[..., object], error: Exception) -> None:
    """Logs the function and the error's type. The value is not logged."""
    where = f"{call.__module__}.{call.__qualname__}"
    warn_once(where, "%s failed to read its input (%s); part of the run is missing", where, type(error).__name__)


def arguments(value: object) -> object:
    """Returns the arguments of a call. Models give arguments as JSON text; such text is decoded."""
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def handoff(tool: str, args: object) -> str:
    """Returns the agent that a tool hands over to, or "". The rules are those of the server for traces."""
    for prefix in _HANDOFF_PREFIXES:
        if not tool.startswith(prefix):
            continue
        to = tool.removeprefix(prefix)
        agent_name = args.get("agent_name") if to == "agent" and isinstance(args, Mapping) else None
        return agent_name if isinstance(agent_name, str) and agent_name else to
    return ""


def strip_nudge(result: object) -> tuple[object, bool]:
    """Returns a tool's result without the nudge that a guard attached, and whether the guard blocked the call.

    A nudge contains a count, so equal results with nudges would differ.
    """
    if not isinstance(result, str) or len(result) > MAX_TEXT:
        return result, False
    text, tag, _ = result.rpartition(" [loop-guard] ")
    if tag:
        return text, False
    if "loop_blocked" not in result and "_loop_guard" not in result:
        return result, False
    parsed = arguments(result)
    if not isinstance(parsed, dict):
        return result, False
    if parsed.get("loop_blocked") is True:
        return parsed, True
    if parsed.pop("_loop_guard", None) is None:
        return result, False
    return parsed["result"] if list(parsed) == ["result"] else parsed, False


def get(value: Any, *path: str) -> Any:
    """Returns the value at path in nested objects or mappings, or None if a member is missing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if value is None:
            return None
    return value


def text(value: Any) -> str:
    """Returns value if it is a str, else ""."""
    return value if isinstance(value, str) else ""


def items(value: Any) -> list[Any]:
    """Returns the items of a list or tuple, and [] for other values: reading an iterator would consume it."""
    return list(value) if isinstance(value, (list, tuple)) else []


def count(*values: Any) -> int:
    """Returns the sum of the positive numbers among values."""
    return sum(int(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0)


def usage(prompt: Any, answer: Any, cached: Any = 0, written: Any = 0, reasoning: Any = 0) -> dict[str, int]:
    """Returns the usage field of an event. prompt includes cached and written tokens, and answer includes reasoning tokens.

    Counts that are zero or unknown are left out.
    """
    kinds = (prompt, answer, cached, written, reasoning)
    return {name: n for name, value in zip(USAGE, kinds, strict=True) if (n := count(value))}


def openai_usage(usage_data: Any, prompt: str = "input", answer: str = "output") -> dict[str, int]:
    """Returns the usage field for a usage object of OpenAI's APIs. Chat completions name the two sides prompt and completion."""
    details = get(usage_data, f"{prompt}_tokens_details")
    sides = get(usage_data, f"{prompt}_tokens"), get(usage_data, f"{answer}_tokens")
    reasoning = get(usage_data, f"{answer}_tokens_details", "reasoning_tokens")
    return usage(*sides, get(details, "cached_tokens"), get(details, "cache_write_tokens"), reasoning)
