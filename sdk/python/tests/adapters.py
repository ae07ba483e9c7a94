"""What the tests of adapters ask of a run."""

from __future__ import annotations

from typing import Any

import unloop
from conftest import Server


def told(server: Server, run: str) -> list[dict[str, Any]]:
    """Returns the events of a run, all of which have come."""
    assert unloop.flush()
    return server.events(run)


METER = "stalled_steps"  # the rule of the progress meter; it may hold beside the rule that names the shape of a loop


def rules(server: Server, run: str) -> list[str]:
    """Returns the rules that warned of a run, apart from the progress meter."""
    assert unloop.flush()
    return sorted(warning["type"] for warning in server.warnings(run) if warning["type"] != METER)


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def line(event: dict[str, Any], *fields: str) -> tuple[Any, ...]:
    """Returns an event's type, and those fields of it."""
    return event["type"], *(event[field] for field in fields)


def calls(events: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Returns what was told of tools, with what was asked or answered, and whether each outcome is that of the call before."""
    rows, started = [], {}
    for event in events:
        if event["type"] == "tool_call_started":
            started[event["call_id"]] = event["tool"]
            rows.append(("asked", event["tool"], event["input"]))
        elif event["type"].startswith("tool_call_"):
            assert started.pop(event["call_id"]) == event["tool"]
            what = event["output"] if event["output"] is not None else event["error"]
            rows.append((event["type"].removeprefix("tool_call_"), event["tool"], what))
    assert not started
    return rows
