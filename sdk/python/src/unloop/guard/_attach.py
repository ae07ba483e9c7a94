"""Attaches a nudge to a result that the protocol cannot carry: one that is not JSON, or too large for a line."""

from __future__ import annotations

from typing import Any


def attach(result: object, sent: Any, returned: Any) -> Any:
    """Returns result with the nudge that the guard attached to sent, which is the serialized form of result."""
    if isinstance(sent, str) and isinstance(returned, str):
        nudge: object = returned[len(sent) :].strip()
        if isinstance(result, str):
            return f"{result} {nudge}"
    else:
        nudge = returned.get("_loop_guard") if isinstance(returned, dict) else None
    if isinstance(result, dict):
        return {**result, "_loop_guard": nudge}
    return {"result": result, "_loop_guard": nudge}
