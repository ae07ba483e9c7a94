"""The calls that are open, as LangChain nests them: from a tool or a model up to the graph, whose run they belong to."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from uuid import UUID

from .._run import Run


class Open:
    """A call that is open: of a chain, which may be a graph or one of its nodes, of a tool or of a model."""

    def __init__(self, id: UUID, run: Run, parent: Open | None) -> None:
        self.id, self.run, self.parent = id, run, parent
        self.owns = False  # the run begins and ends with it
        self.agent: str | None = parent.agent if parent else None
        self.node: str | None = None  # of a graph
        self.tool: str | None = None
        self.model: str | None = None
        self.start: str | None = None  # the event that it began with
        self.began = time.monotonic()
        self.thought = self.acted = False  # a model, a tool was called in it
        self.attempt: str | None = None  # what it attempts: another that does so within the same call is a retry
        self.tried: set[str] = set()  # what was attempted in it and failed
        self.handed: set[str] = set()  # whom it has handed over to
        self.idle: set[str] = set()  # its nodes that run tools for others

    def around(self) -> Iterator[Open]:
        """The calls that it is in, the nearest first."""
        at = self.parent
        while at is not None:
            yield at
            at = at.parent

    def milliseconds(self) -> float:
        return (time.monotonic() - self.began) * 1000


class Tree:
    """Calls by id, at most so many: of those that never end, the ones go in which nothing has begun for longest."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: OrderedDict[UUID, Open] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def find(self, id: UUID | None) -> Open | None:
        with self._lock:
            return self._calls.get(id) if id else None

    def add(self, call: Open) -> None:
        with self._lock:
            self._calls[call.id] = call
            for at in call.around():
                if at.id in self._calls:
                    self._calls.move_to_end(at.id)
            while len(self._calls) > self._most:
                self._calls.popitem(last=False)

    def take(self, id: UUID) -> Open | None:
        with self._lock:
            return self._calls.pop(id, None)
