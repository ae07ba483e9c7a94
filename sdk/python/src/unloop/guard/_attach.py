"""A nudge and a result that the protocol cannot carry: one that is more than JSON, or too big for a line."""

from __future__ import annotations

from typing import Any


def attach(result: object, sent: Any, answered: Any) -> Any:
    """Returns result with the nudge that answered has beside what was sent for it."""
    if isinstance(sent, str) and isinstance(answered, str):
        nudge: object = answered[len(sent) :].strip()
        if isinstance(result, str):
            return f"{result} {nudge}"
    else:
        nudge = answered.get("_loop_guard") if isinstance(answered, dict) else None
    if isinstance(result, dict):
        return {**result, "_loop_guard": nudge}
    return {"result": result, "_loop_guard": nudge}
