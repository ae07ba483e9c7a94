"""Brings events to the server, from a thread of its own. Whoever has an event puts it into a bounded queue and goes on:
nothing here blocks an agent, and nothing here is raised into it.

The thread takes what waits, in batches. While the server is away, or slower than the agent, events go into files
(_buffer.py), and from there to the server when it is back. What finds no room anywhere is dropped, counted and said.
Of every event given, exactly one holds: it waits in the queue, it was sent, it was buffered, or it was dropped.
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
LINGER = 0.05  # seconds that the first event of a batch waits for others
TIMEOUT = 10.0  # seconds for one request
BACKOFF = (0.5, 30.0)  # seconds: first, and most


@dataclasses.dataclass(frozen=True)
class Stats:
    """What became of events: given = sent + buffered + dropped + queued."""

    given: int = 0
    queued: int = 0  # they wait in memory
    sent: int = 0  # straight to the server
    buffered: int = 0  # to a file, as the server was away
    replayed: int = 0  # from files to the server, those of earlier processes included
    rejected: int = 0  # of those sent and replayed: the server refused them
    dropped: int = 0  # there was no room
    ignored: int = 0  # unloop.event() without a run
    away: bool = False  # the last attempt found no server


class _LeftBehind(Exception):
    """close() could not wait for this thread: what it had in hand is not its own any more."""


class Sender:
    """A queue, and the thread that empties it."""

    def __init__(self, settings: Settings, at_exit: Callable[[], None] | None = None) -> None:
        self.settings = settings
        self._at_exit = at_exit
        folder = settings.buffer_folder
        self._buffer = Buffer(folder, settings.endpoint, settings.buffer_bytes) if folder else None
        self._counts = collections.Counter[str]()
        self._revive()

    def _revive(self) -> None:
        """Begins anew: in a new process the thread is gone, and what waits is its parent's to send."""
        self.lock = threading.RLock()  # an event may arise while one is put, in a signal handler for example
        self._done = threading.Condition(threading.Lock())
        self._wake = threading.Event()  # there is something to do
        self._hurry = threading.Event()  # now
        self._queue: collections.deque[bytes] = collections.deque()
        self._flight: list[bytes] = []
        self._count = 0  # of queue and flight
        self._bytes = 0
        self._last = 0
        self._thread: threading.Thread | None = None
        self._closing: float | None = None  # until when to send
        self._retry_at = 0.0
        self._failures = 0
        self._begun = self._ended = 0  # rounds of delivery
        self._clean = False  # after the last one all was with the server
        self._stuck = False  # after the last one something found room nowhere but in memory
        self._disk = True  # files may wait; an earlier process may have left some

    def after_fork(self) -> None:
        self._counts.clear()
        if self._buffer is not None:
            self._buffer.forget()
        self._revive()

    def put(self, event_id: str, tail: bytes) -> None:
        """Numbers an event and queues it. Tail is its JSON without the opening brace, ended by a line feed."""
        with self.lock:
            now = time.time_ns() // 1000
            self._last = now = now if now > self._last else self._last + 1
            # Microseconds are a number that counts up, also over the processes that tell of one run.
            head = f'{{"event_id":"{event_id}","sequence":{now},'
            taken = self._put(head.encode() + tail)
        if not taken:  # said without the lock: a handler of the log may have to do with events, too
            _log.once("dropped", "events are dropped, there is no room for them; unloop.stats() counts them")

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
            self._wake.set()
        elif count % BATCH_EVENTS == 0:
            self._hurry.set()
        return True

    def ignore(self) -> None:
        with self.lock:
            self._counts["ignored"] += 1

    def stats(self) -> Stats:
        with self.lock:
            return Stats(**self._counts, queued=self._count, away=self._failures > 0)

    def flush(self, timeout: float) -> bool:
        """Waits until all that was given before is with the server. False if it is not, in that time or for now."""
        end = time.monotonic() + _seconds(timeout)
        with self.lock:
            if self._thread is None and not self._count:
                return True
            if self._thread is None:
                self._start()
        with self._done:
            wanted = self._begun + 1
            self._wake.set()
            self._hurry.set()
            while self._ended < wanted:
                left = end - time.monotonic()
                if left <= 0 or self._thread is None:
                    return False
                self._done.wait(left)
            return self._clean

    def close(self, timeout: float) -> None:
        """Sends what can be sent in the time and buffers the rest. Afterwards another event begins anew."""
        timeout = _seconds(timeout)
        thread, self._closing = self._thread, time.monotonic() + timeout
        try:
            if thread is not None and thread.is_alive():
                self._wake.set()
                self._hurry.set()
                thread.join(timeout + 0.2)
            elif self._count:
                self._thread = threading.current_thread()
                self._round(self._server())
        finally:  # after a Ctrl-C too, of somebody who does not want to wait
            self._put_away()

    def _put_away(self) -> None:
        """Buffers all that is left. A request may hang still: what it has in hand is told again, and known again."""
        with self.lock:
            left, self._flight = [*self._flight, *self._queue], []
            self._queue.clear()
            self._count = self._bytes = 0
            self._thread = self._closing = None
        kept = self._spool(left)
        with self.lock:
            self._counts["buffered"] += kept
            self._counts["dropped"] += len(left) - kept
        if self._buffer is not None:
            self._buffer.seal()
        if self._counts["dropped"]:
            _log.log.warning("%d events were dropped in all", self._counts["dropped"])

    # From here on: the thread's own.

    def _server(self) -> Server:
        return Server(self.settings.endpoint, self.settings.token)

    def _start(self) -> None:
        _at_end_of_multiprocessing(self._at_exit)
        thread = threading.Thread(target=self._work, name="unloop-sender", daemon=True)
        self._thread = thread
        try:
            thread.start()
        except RuntimeError:  # the interpreter is about to end; close() sees to the rest
            self._thread = None

    def _work(self) -> None:
        me, server = threading.current_thread(), self._server()
        while self._thread is me:
            self._rest()
            closing = self._closing is not None
            try:
                self._round(server)
            except _LeftBehind:
                break
            except Exception as error:  # a mistake of ours must not end the thread
                _log.once("fault", "the sender went wrong: %s", type(error).__name__)
                self._put_back()
                self._failed(Answer(Outcome.AWAY, reason="the sender went wrong"))
            if closing:
                break
        server.close()

    def _rest(self) -> None:
        """Waits for something to do."""
        pause = max(self._retry_at - time.monotonic(), LINGER) if self._failures else None
        if not self._count:
            self._wake.wait(pause)
        elif self._stuck:
            self._hurry.wait(pause)
        self._wake.clear()
        if self._closing is None and self._count < BATCH_EVENTS:
            self._hurry.wait(LINGER)

    def _round(self, server: Server) -> None:
        """Sends all that waits now, or sees it into a file."""
        hurry = self._hurry.is_set()
        self._hurry.clear()
        with self._done:
            self._begun += 1
        clean = False
        try:
            ready = self._failures == 0 or hurry or time.monotonic() >= self._retry_at
            ready = ready and self._replay(server)
            ready = self._empty(server, ready) and ready
            clean = ready and self._replay(server)
        finally:
            with self._done:
                self._ended += 1
                self._clean = clean
                self._done.notify_all()

    def _empty(self, server: Server, ready: bool) -> bool:
        """Empties the queue, as far as it is now. False if not all of it went to the server."""
        left, files = self._count, True
        while left > 0 and (lines := self._take()):
            left -= len(lines)
            if ready and self._send(server, lines):
                self._settle(len(lines), "sent")
                if files and self._crowded():
                    ready, left = False, self._count  # the agent is faster than the server
                continue
            kept = self._spool(lines)
            self._settle(kept, "buffered")
            files = kept == len(lines)
            self._stuck = not files and self._failures > 0
            if not files:
                left += len(lines) - kept
                self._put_back()
                if ready or self._stuck:
                    return False
            ready = not files  # where files have no room, a server that is there may have some
        return ready or self._failures == 0

    def _crowded(self) -> bool:
        """Reports whether the queue is half full."""
        return self._count > self.settings.queue_events // 2 or self._bytes > self.settings.queue_bytes // 2

    def _take(self) -> list[bytes]:
        with self.lock:
            size = 0
            while self._queue and len(self._flight) < BATCH_EVENTS and size < BATCH_BYTES:
                line = self._queue.popleft()
                self._flight.append(line)
                size += len(line)
            return self._flight

    def _settle(self, number: int, became: str) -> None:
        """Notes what became of the first of those in hand."""
        with self.lock:
            done, self._flight = self._flight[:number], self._flight[number:]
            self._count -= len(done)
            self._bytes -= sum(map(len, done))
            self._counts[became] += len(done)

    def _put_back(self) -> None:
        with self.lock:
            self._queue.extendleft(reversed(self._flight))
            self._flight = []

    def _spool(self, lines: list[bytes]) -> int:
        """Writes lines into the buffer and returns how many, from the first, it took."""
        if self._buffer is None or not lines:
            return 0
        try:
            kept = self._buffer.append(lines)
        except OSError as error:
            _log.once("buffer", "events cannot be buffered in %s: %s", self._buffer.folder, error.strerror)
            return 0
        if kept < len(lines):
            _log.once("full", "the buffer in %s is full", self._buffer.folder)
        self._disk = True
        return kept

    def _replay(self, server: Server) -> bool:
        """Sends what waits in files. False if the server is away."""
        while self._disk and self._buffer is not None:
            segment = self._buffer.claim()
            if segment is None:
                break
            if not self._replay_one(server, segment):
                segment.release()
                return False
            segment.delete()
        self._disk = False
        return True

    def _replay_one(self, server: Server, segment: Segment) -> bool:
        for lines in segment.batches(BATCH_EVENTS, BATCH_BYTES):
            if not self._send(server, lines):
                return False
            self._counts["replayed"] += len(lines)
            if self._crowded():
                self._empty(server, ready=False)  # behind those that are older
        return True

    def _send(self, server: Server, lines: list[bytes]) -> bool:
        """Hands lines to the server. False if it is away."""
        timeout = TIMEOUT
        if self._closing is not None:
            timeout = min(timeout, self._closing - time.monotonic())
            if timeout <= 0:
                return False
        answer = server.send(lines, timeout)
        if self._thread is not threading.current_thread():
            raise _LeftBehind
        if answer.outcome is Outcome.AWAY:
            self._failed(answer)
            return False
        if answer.outcome is Outcome.TOO_MUCH and len(lines) > 1:
            middle = len(lines) // 2
            return self._send(server, lines[:middle]) and self._send(server, lines[middle:])
        rejected = 1 if answer.outcome is Outcome.TOO_MUCH else answer.rejected
        if rejected:
            self._counts["rejected"] += rejected
            _log.once("rejected", "the server refused an event: %s", answer.reason)
        if self._failures:
            self._failures = 0
            _log.again("away")
        return True

    def _failed(self, answer: Answer) -> None:
        self._failures += 1
        least, most = BACKOFF
        pause = min(least * 2 ** min(self._failures - 1, 16), most) * random.uniform(0.5, 1)
        self._retry_at = time.monotonic() + max(pause, answer.after)
        where = f"are kept in {self._buffer.folder}" if self._buffer else "wait in memory"
        _log.once("away", "%s; events %s and are sent later", answer.reason, where)


def _at_end_of_multiprocessing(act: Callable[[], None] | None) -> None:
    """Has act done at the end of a child of multiprocessing's, which may end without atexit."""
    process, util = sys.modules.get("multiprocessing.process"), sys.modules.get("multiprocessing.util")
    if act is not None and process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, act, exitpriority=1)


def _seconds(timeout: float) -> float:
    """Returns a time that a thread can wait, whatever somebody calls one."""
    return min(max(0.0, timeout), 1e6)
