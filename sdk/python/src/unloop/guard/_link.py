"""What a guard asks: lines of the guard's protocol go out, answers come back. Here is what a child process and a server have in
common: the snapshots of the runs, and giving them back to a guard that has begun anew."""

from __future__ import annotations

import collections
import json
import threading
import time
from typing import Any

from .. import _log
from .._freeze import quote

SNAPSHOT_LINES = 8  # lines of a run between two snapshots, at least,
SNAPSHOT_BYTES = 4096  # and so many bytes of the last one for each line, so that snapshots cost about the same per line
SNAPSHOT_SECONDS = 5.0  # or so much time, if there was a line
REMEMBERED = 256  # runs whose snapshots are kept; that which was idle longest is forgotten


class Unavailable(Exception):
    """Nobody answers now."""


class Memory:
    """What is kept of one run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()  # the lines of a run go in order
        self.generation: int | None = None
        self.snapshot: str = ""
        self.asked = 0
        self.taken = time.monotonic()

    def due(self) -> bool:
        """Reports whether it is time for a snapshot."""
        if self.asked >= max(SNAPSHOT_LINES, len(self.snapshot) // SNAPSHOT_BYTES):
            return True
        return self.asked > 0 and time.monotonic() - self.taken > SNAPSHOT_SECONDS


class Link:
    """A way to a guard. Safe for threads."""

    def __init__(self) -> None:
        self.generation = 1  # counted up whenever the guard begins anew
        self._memories: collections.OrderedDict[str, Memory] = collections.OrderedDict()
        self._lock = threading.Lock()

    def memory(self, name: str) -> Memory:
        with self._lock:
            found = self._memories.setdefault(name, Memory(name))
            self._memories.move_to_end(name)
            if len(self._memories) > REMEMBERED:
                self._memories.popitem(last=False)
            return found

    def forget(self, name: str) -> None:
        with self._lock:
            self._memories.pop(name, None)

    def ask(self, memory: Memory, line: bytes, timeout: float) -> dict[str, Any]:
        """Sends a line of a run and returns the answer. Raises Unavailable."""
        end = time.monotonic() + timeout
        if not memory.lock.acquire(timeout=timeout):
            raise Unavailable("the guard does not answer")
        try:
            self.prepare()
            lines = [line]
            if memory.generation != self.generation and memory.snapshot:
                lines.insert(0, _line("restore", memory, f',"snapshot":{memory.snapshot}'))
            due = memory.due()
            if due:
                lines.append(_line("snapshot", memory, ""))
            generation = self.generation
            answers = self.exchange(lines, end)
            memory.generation = generation
            memory.asked = 0 if due else memory.asked + 1
            if due:
                memory.taken = time.monotonic()
                self._keep(memory, answers.pop())
            return _object(answers[-1])
        finally:
            memory.lock.release()

    def _keep(self, memory: Memory, answer: bytes) -> None:
        before, found, taken = answer.rstrip().partition(b'"snapshot":')
        if found and b'"error"' not in before:
            memory.snapshot = taken[:-1].decode()  # all but the brace; to read it all would cost more than to take it

    def prepare(self) -> None:
        """Sees that there is somebody to ask."""

    def exchange(self, lines: list[bytes], end: float) -> list[bytes]:
        """Sends lines and returns as many answers, before the time end."""
        raise NotImplementedError

    def after_fork(self) -> None:
        self._lock = threading.Lock()
        for memory in self._memories.values():
            memory.lock = threading.Lock()


def say_unguarded(why: str) -> None:
    _log.once("unguarded", "the agent goes on unguarded: %s", why)


def _line(op: str, memory: Memory, more: str) -> bytes:
    return f'{{"op":"{op}","run":{quote(memory.name)}{more}}}\n'.encode()


def _object(line: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(line)
    except ValueError:
        raise Unavailable("the guard's answer is no JSON") from None
    if not isinstance(answer, dict):
        raise Unavailable("the guard's answer is no object")
    return answer
