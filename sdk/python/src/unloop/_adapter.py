"""What the adapters of frameworks share: how a call is read, and that none of it ever raises into the agent."""

from __future__ import annotations

import functools
import json
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from ._log import once
from ._run import USAGE

P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")

LONGEST = 1 << 20  # characters of a text that is looked into
_handing_over = ("transfer_back_to_", "transfer_to_", "handoff_to_")


class Notes(OrderedDict[str, V]):
    """What is kept of things that are open. Some never end, so the oldest goes when there are too many."""

    def __setitem__(self, key: str, value: V) -> None:
        super().__setitem__(key, value)
        while len(self) > 10_000:
            self.popitem(last=False)


def quietly(call: Callable[P, T]) -> Callable[P, T | None]:
    """Makes a function that reads what a framework says return None where it would raise. That is said once."""

    @functools.wraps(call)
    def safe(*args: P.args, **kwargs: P.kwargs) -> T | None:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            unread(call, error)
            return None

    return safe


def unread(call: Callable[..., object], error: Exception) -> None:
    """Says that something could not be read, and not what it was."""
    where = f"{call.__module__}.{call.__qualname__}"
    once(where, "%s could not read what it was told (%s); part of the run is missing", where, type(error).__name__)


def arguments(given: object) -> object:
    """Returns the arguments of a call: a text that holds JSON, as models write it, counts as what it holds."""
    if not isinstance(given, str) or len(given) > LONGEST:
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def handoff(tool: str, args: object) -> str:
    """Returns the agent that a tool hands over to, or "", as the server reads it from traces."""
    for prefix in _handing_over:
        if not tool.startswith(prefix):
            continue
        to = tool.removeprefix(prefix)
        named = args.get("agent_name") if to == "agent" and isinstance(args, Mapping) else None
        return named if isinstance(named, str) and named else to
    return ""


def plain(result: object) -> tuple[object, bool]:
    """Returns the result of a tool without the warning that a guard attached, and whether a guard refused the call.

    The warning counts up, so that equal results would look different.
    """
    if not isinstance(result, str) or len(result) > LONGEST:
        return result, False
    text, tag, _ = result.rpartition(" [loop-guard] ")
    if tag:
        return text, False
    if "loop_blocked" not in result and "_loop_guard" not in result:
        return result, False
    said = arguments(result)
    if not isinstance(said, dict):
        return result, False
    if said.get("loop_blocked") is True:
        return said, True
    if said.pop("_loop_guard", None) is None:
        return result, False
    return said["result"] if list(said) == ["result"] else said, False


def get(value: Any, *path: str) -> Any:
    """Returns a member of a member of a value, be they objects or mappings; None where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if value is None:
            return None
    return value


def text(value: Any) -> str:
    """Returns value if it is a text, else ""."""
    return value if isinstance(value, str) else ""


def items(value: Any) -> list[Any]:
    """Returns the items of a list, and none of anything else: an iterator would be used up by looking at it."""
    return list(value) if isinstance(value, (list, tuple)) else []


def count(*values: Any) -> int:
    """Returns the sum of those values that are numbers."""
    return sum(int(v) for v in values if isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0)


def usage(prompt: Any, answer: Any, cached: Any = 0, written: Any = 0, reasoning: Any = 0) -> dict[str, int]:
    """Returns the tokens of a model call as events have them. Prompt includes its cached part, and answer its reasoning."""
    kinds = (prompt, answer, cached, written, reasoning)
    return {name: n for name, value in zip(USAGE, kinds, strict=True) if (n := count(value))}


def openai_usage(told: Any, prompt: str = "input", answer: str = "output") -> dict[str, int]:
    """Returns what OpenAI's APIs tell as usage; chat completions call the two sides of a call prompt and completion."""
    details = get(told, f"{prompt}_tokens_details")
    sides = get(told, f"{prompt}_tokens"), get(told, f"{answer}_tokens")
    reasoning = get(told, f"{answer}_tokens_details", "reasoning_tokens")
    return usage(*sides, get(details, "cached_tokens"), get(details, "cache_write_tokens"), reasoning)
