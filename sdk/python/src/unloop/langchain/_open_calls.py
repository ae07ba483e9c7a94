"""The open calls with their nesting in LangChain: a tool or model call, the chains around it, and the graph that is the run."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from uuid import UUID

from .._run import Run


class OpenCall:
    """An open call of a tool, a model or a chain. A chain may be a graph or a node of a graph."""

    def __init__(self, id: UUID, run: Run, parent: OpenCall | None) -> None:
        self.id, self.run, self.parent = id, run, parent
        self.owns = False  # the run starts and ends with this call
        self.agent: str | None = parent.agent if parent else None
        self.node: str | None = None  # name of the graph's node
        self.tool: str | None = None
        self.model: str | None = None
        self.start: str | None = None  # id of the start event
        self.started_at = time.monotonic()
        self.called_model = self.called_tool = False  # whether a model or a tool was called within it
        self.attempt: str | None = None  # key of the attempted work; the same key again within the parent is a retry
        self.failed_attempts: set[str] = set()  # keys of failed attempts within it
        self.handoffs: set[str] = set()  # agents that it handed over to
        self.tool_nodes: set[str] = set()  # its nodes that only run tools

    def ancestors(self) -> Iterator[OpenCall]:
        """Yields the calls around this one, innermost first."""
        ancestor = self.parent
        while ancestor is not None:
            yield ancestor
            ancestor = ancestor.parent

    def milliseconds(self) -> float:
        return (time.monotonic() - self.started_at) * 1000


class OpenCalls:
    """Open calls by id, at most limit. Some calls never end, so the call with the least recent activity is evicted."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._calls: OrderedDict[UUID, OpenCall] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._calls)

    def find(self, id: UUID | None) -> OpenCall | None:
        with self._lock:
            return self._calls.get(id) if id else None

    def add(self, call: OpenCall) -> None:
        with self._lock:
            self._calls[call.id] = call
            for ancestor in call.ancestors():
                if ancestor.id in self._calls:
                    self._calls.move_to_end(ancestor.id)
            while len(self._calls) > self._limit:
                self._calls.popitem(last=False)

    def take(self, id: UUID) -> OpenCall | None:
        with self._lock:
            return self._calls.pop(id, None)
