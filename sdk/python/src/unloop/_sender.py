"""Sends events to the server from a background thread. Recording an event puts it into a bounded queue. Nothing here blocks
the agent or raises into it.

The thread sends the queue in batches. While the server is unavailable, or slower than the agent, events are written to files
(_buffer.py) and sent from there later. An event is dropped if the queue is full, or if neither the server nor a file takes it
at exit. Drops are counted, and the first one is logged. Each event is in exactly one state: queued, sent, buffered or dropped.
"""

from __future__ import annotations

import collections
import dataclasses
import random
import sys
import threading
import time
from collections.abc import Callable

from . import _log
from ._buffer import Buffer, Segment
from ._http import Answer, Outcome, Server
from ._settings import Settings

BATCH_EVENTS = 1000
BATCH_BYTES = 1 << 20
LINGER = 0.05  # seconds that the first event of a batch waits for more events
TIMEOUT = 10.0  # seconds for one request
BACKOFF = (0.5, 30.0)  # seconds: first and longest


@dataclasses.dataclass(frozen=True)
class Stats:
    """Counts of events by outcome: given = sent + buffered + dropped + queued."""

    given: int = 0
    queued: int = 0  # in memory
    sent: int = 0  # directly to the server
    buffered: int = 0  # written to a file
    replayed: int = 0  # sent from files, including those of earlier processes
    rejected: int = 0  # sent or replayed, and invalid for the server
    dropped: int = 0  # no room in the queue or in the buffer
    ignored: int = 0  # unloop.event() without a run; not part of given
    away: bool = False  # the last request did not reach a server that accepts events


class _Abandoned(Exception):
    """close() timed out and took over the events of this thread."""


class Sender:
    """A bounded queue of events and the thread that sends them. Safe for concurrent use."""

    def __init__(self, settings: Settings, at_exit: Callable[[], None] | None = None) -> None:
        self.settings = settings
        self._at_exit = at_exit
        folder = settings.buffer_folder
        self._buffer = Buffer(folder, settings.endpoint, settings.buffer_bytes) if folder else None
        self._counts = collections.Counter[str]()
        self._reset()

    def _reset(self) -> None:
        """Resets the state. After a fork there is no thread, and the parent sends the queued events."""
        self.lock = threading.RLock()  # reentrant: a signal handler may record an event while another one is recorded
        self._round_done = threading.Condition(threading.Lock())
        self._work_ready = threading.Event()  # there are events to send
        self._flush_requested = threading.Event()  # send without waiting
        self._queue: collections.deque[bytes] = collections.deque()
        self._in_flight: list[bytes] = []
        self._count = 0  # events in _queue and _in_flight
        self._bytes = 0
        self._last_sequence = 0
        self._thread: threading.Thread | None = None
        self._closing: float | None = None  # time limit of close()
        self._retry_at = 0.0
        self._failures = 0
        self._rounds_started = self._rounds_ended = 0  # rounds of delivery, for flush()
        self._all_sent = False  # the last round sent all events
        self._no_room = False  # the buffer was full in the last round, so events stay in memory
        self._files_waiting = True  # files may exist, also those of earlier processes

    def after_fork(self) -> None:
        self._counts.clear()
        if self._buffer is not None:
            self._buffer.after_fork()
        self._reset()

    def put(self, event_id: str, tail: bytes) -> None:
        """Queues an event with its id and sequence number. tail is its JSON without the opening brace, ended by a line feed."""
        with self.lock:
            now = time.time_ns() // 1000
            self._last_sequence = now = now if now > self._last_sequence else self._last_sequence + 1
            # The sequence is the time in microseconds, which also orders the events of several processes in one run.
            head = f'{{"event_id":"{event_id}","sequence":{now},'
            queued = self._put(head.encode() + tail)
        if not queued:  # logged without the lock: a log handler may record events, too
            _log.warn_once("dropped", "events dropped: the queue is full; unloop.stats() has the count")

    def _put(self, line: bytes) -> bool:
        self._counts["given"] += 1
        count, size = self._count + 1, self._bytes + len(line)
        if count > self.settings.queue_events or size > self.settings.queue_bytes:
            self._counts["dropped"] += 1
            return False
        self._count, self._bytes = count, size
        self._queue.append(line)
        if self._thread is None:
            self._start()
        if count == 1:
            self._work_ready.set()
        elif count % BATCH_EVENTS == 0:
            self._flush_requested.set()
        return True

    def ignore(self) -> None:
        with self.lock:
            self._counts["ignored"] += 1

    def stats(self) -> Stats:
        with self.lock:
            return Stats(**self._counts, queued=self._count, away=self._failures > 0)

    def flush(self, timeout: float) -> bool:
        """Waits up to timeout seconds until the server has all events recorded before, and returns whether it has."""
        end = time.monotonic() + _seconds(timeout)
        with self.lock:
            if self._thread is None and not self._count:
                return True
            if self._thread is None:
                self._start()
        with self._round_done:
            wanted = self._rounds_started + 1
            self._work_ready.set()
            self._flush_requested.set()
            while self._rounds_ended < wanted:
                left = end - time.monotonic()
                if left <= 0 or self._thread is None:
                    return False
                self._round_done.wait(left)
            return self._all_sent

    def close(self, timeout: float) -> None:
        """Sends events for up to timeout seconds and buffers the rest. A later event starts a new thread."""
        timeout = _seconds(timeout)
        thread, self._closing = self._thread, time.monotonic() + timeout
        try:
            if thread is not None and thread.is_alive():
                self._work_ready.set()
                self._flush_requested.set()
                thread.join(timeout + 0.2)
            elif self._count:
                self._thread = threading.current_thread()
                self._deliver(self._server())
        finally:  # also after KeyboardInterrupt
            self._buffer_rest()

    def _buffer_rest(self) -> None:
        """Buffers all remaining events. Those of an unfinished request are sent twice, which the server detects by their ids."""
        with self.lock:
            left, self._in_flight = [*self._in_flight, *self._queue], []
            self._queue.clear()
            self._count = self._bytes = 0
            self._thread = self._closing = None
        written = self._spool(left)
        with self.lock:
            self._counts["buffered"] += written
            self._counts["dropped"] += len(left) - written
        if self._buffer is not None:
            self._buffer.seal()
        if self._counts["dropped"]:
            _log.log.warning("%d events dropped in total", self._counts["dropped"])

    # The methods below run in the sending thread.

    def _server(self) -> Server:
        return Server(self.settings.endpoint, self.settings.token)

    def _start(self) -> None:
        _at_end_of_multiprocessing(self._at_exit)
        thread = threading.Thread(target=self._work, name="unloop-sender", daemon=True)
        self._thread = thread
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down; close() handles the events
            self._thread = None

    def _work(self) -> None:
        me, server = threading.current_thread(), self._server()
        while self._thread is me:
            self._wait_for_work()
            closing = self._closing is not None
            try:
                self._deliver(server)
            except _Abandoned:
                break
            except Exception as error:  # an internal error must not end the thread
                _log.warn_once("fault", "internal error in the sender: %s", type(error).__name__)
                self._requeue()
                self._failed(Answer(Outcome.UNAVAILABLE, reason="internal error in the sender"))
            if closing:
                break
        server.close()

    def _wait_for_work(self) -> None:
        """Waits for events, for a flush, or for the next retry."""
        pause = max(self._retry_at - time.monotonic(), LINGER) if self._failures else None
        if not self._count:
            self._work_ready.wait(pause)
        elif self._no_room:
            self._flush_requested.wait(pause)
        self._work_ready.clear()
        if self._closing is None and self._count < BATCH_EVENTS:
            self._flush_requested.wait(LINGER)

    def _deliver(self, server: Server) -> None:
        """Sends or buffers the events that are queued now."""
        flush_requested = self._flush_requested.is_set()
        self._flush_requested.clear()
        with self._round_done:
            self._rounds_started += 1
        all_sent = False
        try:
            ready = self._failures == 0 or flush_requested or time.monotonic() >= self._retry_at
            ready = ready and self._replay(server)
            ready = self._drain(server, ready) and ready
            all_sent = ready and self._replay(server)
        finally:
            with self._round_done:
                self._rounds_ended += 1
                self._all_sent = all_sent
                self._round_done.notify_all()

    def _drain(self, server: Server, ready: bool) -> bool:
        """Sends or buffers the events that are queued now. Returns False if the server is unavailable or events remain."""
        left, files = self._count, True
        while left > 0 and (lines := self._next_batch()):
            left -= len(lines)
            if ready and self._send(server, lines):
                self._record_outcome(len(lines), "sent")
                if files and self._half_full():
                    ready, left = False, self._count  # the agent records events faster than the server accepts them
                continue
            written = self._spool(lines)
            self._record_outcome(written, "buffered")
            files = written == len(lines)
            self._no_room = not files and self._failures > 0
            if not files:
                left += len(lines) - written
                self._requeue()
                if ready or self._no_room:
                    return False
            ready = not files  # a full buffer leaves the server as the only place
        return ready or self._failures == 0

    def _half_full(self) -> bool:
        """Reports whether the queue is half full."""
        return self._count > self.settings.queue_events // 2 or self._bytes > self.settings.queue_bytes // 2

    def _next_batch(self) -> list[bytes]:
        with self.lock:
            size = 0
            while self._queue and len(self._in_flight) < BATCH_EVENTS and size < BATCH_BYTES:
                line = self._queue.popleft()
                self._in_flight.append(line)
                size += len(line)
            return self._in_flight

    def _record_outcome(self, number: int, outcome: str) -> None:
        """Records the outcome of the first number events in flight."""
        with self.lock:
            done, self._in_flight = self._in_flight[:number], self._in_flight[number:]
            self._count -= len(done)
            self._bytes -= sum(map(len, done))
            self._counts[outcome] += len(done)

    def _requeue(self) -> None:
        with self.lock:
            self._queue.extendleft(reversed(self._in_flight))
            self._in_flight = []

    def _spool(self, lines: list[bytes]) -> int:
        """Writes lines to the buffer in order and returns how many were written."""
        if self._buffer is None or not lines:
            return 0
        try:
            written = self._buffer.append(lines)
        except OSError as error:
            _log.warn_once("buffer", "events cannot be buffered in %s: %s", self._buffer.folder, error.strerror)
            return 0
        if written < len(lines):
            _log.warn_once("full", "the buffer in %s is full", self._buffer.folder)
        self._files_waiting = True
        return written

    def _replay(self, server: Server) -> bool:
        """Sends the events in files. Returns False if the server is unavailable."""
        while self._files_waiting and self._buffer is not None:
            segment = self._buffer.claim()
            if segment is None:
                break
            if not self._replay_one(server, segment):
                segment.release()
                return False
            segment.delete()
        self._files_waiting = False
        return True

    def _replay_one(self, server: Server, segment: Segment) -> bool:
        for lines in segment.batches(BATCH_EVENTS, BATCH_BYTES):
            if not self._send(server, lines):
                return False
            self._counts["replayed"] += len(lines)
            if self._half_full():
                self._drain(server, ready=False)  # into files, after the older events
        return True

    def _send(self, server: Server, lines: list[bytes]) -> bool:
        """Sends lines to the server. Returns False if it is unavailable."""
        timeout = TIMEOUT
        if self._closing is not None:
            timeout = min(timeout, self._closing - time.monotonic())
            if timeout <= 0:
                return False
        answer = server.send(lines, timeout)
        if self._thread is not threading.current_thread():
            raise _Abandoned
        if answer.outcome is Outcome.UNAVAILABLE:
            self._failed(answer)
            return False
        if answer.outcome is Outcome.TOO_LARGE and len(lines) > 1:
            middle = len(lines) // 2
            return self._send(server, lines[:middle]) and self._send(server, lines[middle:])
        rejected = 1 if answer.outcome is Outcome.TOO_LARGE else answer.rejected
        if rejected:
            self._counts["rejected"] += rejected
            _log.warn_once("rejected", "the server rejected an event: %s", answer.reason)
        if self._failures:
            self._failures = 0
            _log.reset_warning("away")
        return True

    def _failed(self, answer: Answer) -> None:
        self._failures += 1
        least, most = BACKOFF
        pause = min(least * 2 ** min(self._failures - 1, 16), most) * random.uniform(0.5, 1)
        self._retry_at = time.monotonic() + max(pause, answer.retry_after)
        where = f"buffered in {self._buffer.folder}" if self._buffer else "kept in memory"
        _log.warn_once("away", "%s; events are %s and sent later", answer.reason, where)


def _at_end_of_multiprocessing(act: Callable[[], None] | None) -> None:
    """Runs act at the end of a multiprocessing child, which may exit without running atexit."""
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if act is not None and process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, act, exitpriority=1)


def _seconds(timeout: float) -> float:
    """Returns timeout limited to the range that a thread can wait."""
    return min(max(0.0, timeout), 1e6)
