"""The guard protocol as lines of requests and responses. This module is shared by the child process and the server: it keeps
snapshots of the runs and restores them in a guard that was restarted."""

from __future__ import annotations

import collections
import json
import threading
import time
from typing import Any

from .. import _log
from .._serialize import quote

# A snapshot is due after max(SNAPSHOT_LINES, size of the last snapshot / SNAPSHOT_BYTES) lines of a run, so that its cost per
# line is about constant. It is also due after SNAPSHOT_SECONDS with at least one line.
SNAPSHOT_LINES = 8
SNAPSHOT_BYTES = 4096
SNAPSHOT_SECONDS = 5.0
MAX_RUNS = 256  # runs whose snapshots are kept; the least recently used is evicted


class Unavailable(Exception):
    """The guard is not available now."""


def _set_event() -> threading.Event:
    event = threading.Event()
    event.set()
    return event


class RunState:
    """The state of one run on this side of the protocol."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()  # keeps the lines of a run in order
        self.generation: int | None = None
        self.snapshot: str = ""
        self.lines_since_snapshot = 0
        self.snapshot_at = time.monotonic()
        self.running = _set_event()  # not set while a person has paused the run
        self.reported: object = None  # the observed run that knows that it is guarded

    def after_fork(self) -> None:
        """Ends a pause in a forked child, where no thread receives the order that would end it."""
        self.lock, self.running = threading.Lock(), _set_event()

    def snapshot_due(self) -> bool:
        """Reports whether the next request takes a snapshot."""
        if self.lines_since_snapshot >= max(SNAPSHOT_LINES, len(self.snapshot) // SNAPSHOT_BYTES):
            return True
        return self.lines_since_snapshot > 0 and time.monotonic() - self.snapshot_at > SNAPSHOT_SECONDS


class Transport:
    """A connection to a guard. Safe for concurrent use."""

    def __init__(self) -> None:
        self.generation = 1  # increases when the guard may have lost its runs
        self._run_states: collections.OrderedDict[str, RunState] = collections.OrderedDict()
        self._lock = threading.Lock()

    def run_state(self, name: str) -> RunState:
        with self._lock:
            found = self._run_states.setdefault(name, RunState(name))
            self._run_states.move_to_end(name)
            if len(self._run_states) > MAX_RUNS:
                self._run_states.popitem(last=False)
            return found

    def drop(self, name: str) -> None:
        with self._lock:
            self._run_states.pop(name, None)

    def ask(self, run_state: RunState, line: bytes, timeout: float) -> dict[str, Any]:
        """Sends a line of a run and returns the response. timeout is in seconds. Raises Unavailable."""
        deadline = time.monotonic() + timeout
        if not run_state.lock.acquire(timeout=timeout):
            raise Unavailable("the guard timed out")
        try:
            self.prepare()
            lines = [line]
            if run_state.generation != self.generation and run_state.snapshot:
                lines.insert(0, _line("restore", run_state, f',"snapshot":{run_state.snapshot}'))
            snapshot_due = run_state.snapshot_due()
            if snapshot_due:
                lines.append(_line("snapshot", run_state, ""))
            generation = self.generation
            answers = self.exchange(lines, deadline)
            run_state.generation = generation
            run_state.lines_since_snapshot = 0 if snapshot_due else run_state.lines_since_snapshot + 1
            if snapshot_due:
                run_state.snapshot_at = time.monotonic()
                self._store_snapshot(run_state, answers.pop())
            return _object(answers[-1])
        finally:
            run_state.lock.release()

    def _store_snapshot(self, run_state: RunState, answer: bytes) -> None:
        before, found, snapshot = answer.rstrip().partition(b'"snapshot":')
        if found and b'"error"' not in before:
            run_state.snapshot = snapshot[:-1].decode()  # without the closing brace; parsing it would cost more than taking it

    def prepare(self) -> None:
        """Connects to the guard if necessary. Raises Unavailable."""

    def exchange(self, lines: list[bytes], deadline: float) -> list[bytes]:
        """Sends lines and returns one response per line. deadline is a time.monotonic() value. Raises Unavailable."""
        raise NotImplementedError

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        for run_state in self._run_states.values():
            run_state.after_fork()


def log_unguarded(why: str) -> None:
    _log.warn_once("unguarded", "the agent runs unguarded: %s", why)


def _line(op: str, run_state: RunState, more: str) -> bytes:
    return f'{{"op":"{op}","run":{quote(run_state.name)}{more}}}\n'.encode("utf-8", "replace")


def _object(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        raise Unavailable("the guard's response is not JSON") from None
    if not isinstance(answer, dict):
        raise Unavailable("the guard's response is not a JSON object")
    return answer
