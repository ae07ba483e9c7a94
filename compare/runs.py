"""Labelled runs, and the decisions of a detector about them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any


class Verdict(IntEnum):
    """What a detector says at one entry of a run. A higher value is more severe."""

    NONE = 0
    FLAG = 1  # a warning
    STOP = 2  # the call is blocked, or the run is ended


@dataclass(frozen=True)
class Call:
    """A tool call with its result."""

    number: int  # among the calls of the run, from 0
    tool: str
    args: dict[str, Any]
    result: str
    error: str | None  # None if the call succeeded

    @property
    def output(self) -> str:
        """What the agent reads."""
        return self.result or self.error or ""

    @property
    def command(self) -> str:
        """The call in one line, as a shell or a log shows it."""
        command = self.args.get("command")
        if isinstance(command, str):
            return command
        return f"{self.tool} {json.dumps(self.args, sort_keys=True)}"


@dataclass(frozen=True)
class Message:
    """A message of the system, the user or the assistant."""

    role: str
    text: str


Entry = Call | Message


@dataclass(frozen=True)
class Stretch:
    """A part of a run in which readers saw that the agent was stuck. Positions are indexes of entries."""

    onset: int
    end: int


@dataclass(frozen=True)
class Run:
    """A run that readers have judged."""

    id: str
    entries: list[Entry]
    agreed: list[Stretch]
    borderline: list[Stretch]

    @property
    def task(self) -> str:
        """The first message of the user, or else of anybody."""
        messages = [e for e in self.entries if isinstance(e, Message)]
        users = [m for m in messages if m.role == "user"]
        return next((m.text for m in users or messages), "")


@dataclass
class Decisions:
    """What a detector said about all runs."""

    name: str
    version: str
    by_run: dict[str, list[tuple[int, Verdict]]] = field(default_factory=dict)
    steps: int = 0  # entries
    seconds: float = 0.0


def read(paths: list[Path]) -> Iterator[Run]:
    """Yields the judged runs of files in the format of docs/eval.md. Runs without labels.stuck are left out."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                run = json.loads(line)
                stuck = run["labels"].get("stuck")
                if stuck is not None:
                    yield Run(run["id"], _entries(run["events"]), _stretches(stuck, "agreed"), _stretches(stuck, "borderline"))


def _stretches(stuck: dict[str, Any], name: str) -> list[Stretch]:
    return [Stretch(s["onset"], s["end"]) for s in stuck.get(name) or []]


def _entries(events: list[dict[str, Any]]) -> list[Entry]:
    entries: list[Entry] = []
    calls = 0
    for event in events:
        if event["kind"] == "tool_call":
            entries.append(Call(calls, event["tool"], event.get("args") or {}, event.get("result") or "", event.get("error")))
            calls += 1
        else:
            entries.append(Message(event.get("role") or "assistant", event.get("text") or ""))
    return entries
