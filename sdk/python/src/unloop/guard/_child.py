"""A child process `unloop guard`, one for each profile with its settings. Who asks writes and reads by himself: no other
thread has to wake up for an answer. A child that hangs is ended; one that has ended is replaced, in the background."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

from .. import _log
from ._binary import find
from ._decision import GuardUnavailable
from ._link import Link, Unavailable, say_unguarded

BACKOFF = 60.0  # seconds, at most, until the next attempt to start a child
STEADY = 10.0  # seconds after which a child is taken to be well

Key = tuple[str, tuple[tuple[str, str], ...]]

_children: dict[Key, Child] = {}
_lock = threading.Lock()


def child_of(profile: str, settings: Mapping[str, Any] | None) -> Child:
    """Returns the child for a profile and its settings, which may not have been started yet."""
    told = tuple(sorted((str(name), v if isinstance(v, str) else json.dumps(v)) for name, v in (settings or {}).items()))
    with _lock:
        return _children.setdefault((profile, told), Child(profile, told))


class Hangs(Unavailable):
    """It lives, and does not answer."""


class Child(Link):
    """One process, and how to get another."""

    def __init__(self, profile: str, settings: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.flags = ["--profile", profile, *(f"--set={name}={value}" for name, value in settings)]
        self._pipe = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._starting: threading.Thread | None = None
        self._deaths = 0
        self._next = 0.0  # when to start one again
        self._began = 0.0
        self._reason = ""

    def start(self) -> None:
        """Starts the process, if there was none yet, and waits until it answers. Raises GuardUnavailable."""
        with self._pipe:
            if self._process is not None or self._starting is not None:
                return
            try:
                self._launch()
            except GuardUnavailable as error:
                self._died(str(error))
                raise

    def _launch(self) -> None:
        if os.name == "nt":
            raise GuardUnavailable("a child process is not guarded by on Windows: give the guard an endpoint")
        command = [find(), "guard", *self.flags]
        try:
            process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise GuardUnavailable(f"{command[0]} cannot be started: {error.strerror}") from error
        assert process.stdin and process.stdout
        os.set_blocking(process.stdin.fileno(), False)
        self._process, self._rest, self._began = process, b"", time.monotonic()
        try:
            self._talk(process, [b'{"op":"stats"}\n'], time.monotonic() + 5)
        except Unavailable as error:
            raise GuardUnavailable(self._end(process, error)) from None
        except BaseException:
            self._drop(process)
            raise

    def prepare(self) -> None:
        if self._process is not None:
            return
        if self._next == 0.0:
            with contextlib.suppress(GuardUnavailable):
                self.start()
        if self._process is None:
            self._again()
            raise Unavailable(self._reason or "the guard is being started")

    def exchange(self, lines: list[bytes], end: float) -> list[bytes]:
        if not self._pipe.acquire(timeout=max(end - time.monotonic(), 0)):
            raise Unavailable("the guard does not answer")
        try:
            if self._process is None:
                raise Unavailable(self._reason or "the guard is being started")
            process = self._process
            try:
                return self._talk(process, lines, end)
            except Unavailable as error:
                self._died(self._end(process, error))
                raise
            except BaseException:
                self._drop(process)
                raise
        finally:
            self._pipe.release()

    def _talk(self, process: subprocess.Popen[bytes], lines: list[bytes], end: float) -> list[bytes]:
        assert process.stdin and process.stdout
        try:
            self._write(process.stdin.fileno(), b"".join(lines), end)
            return self._read(process.stdout.fileno(), len(lines), end)
        except (OSError, ValueError):  # a broken pipe, or one that was closed
            raise Unavailable("the guard has ended") from None

    def _write(self, fd: int, data: bytes, end: float) -> None:
        done = 0
        while True:
            try:
                done += os.write(fd, data[done:] if done else data)
            except BlockingIOError:
                _wait(fd, select.POLLOUT, end)
            if done >= len(data):
                return

    def _read(self, fd: int, number: int, end: float) -> list[bytes]:
        parts, ends = [self._rest], self._rest.count(b"\n")
        while ends < number:
            _wait(fd, select.POLLIN, end)
            part = os.read(fd, 1 << 18)
            if not part:
                raise Unavailable("the guard has ended")
            parts.append(part)
            ends += part.count(b"\n")
        answers = b"".join(parts).split(b"\n", number)
        self._rest = answers.pop()
        return answers

    def _end(self, process: subprocess.Popen[bytes], why: Unavailable) -> str:
        """Ends a process that is of no use any more, and returns why: in its own words, if it refused to work."""
        self._process = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0 if isinstance(why, Hangs) else 2)
        process.kill()
        code = process.wait()
        said = process.stderr.read(10_000) if process.stderr and code == 2 else b""
        _close(process)
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return lines[0][:300] if lines else str(why)

    def _drop(self, process: subprocess.Popen[bytes]) -> None:
        """Ends a process after a Ctrl-C in the middle: what it answers still would be taken for the answer to something else.
        Whoever asks next starts another."""
        self._process, self._next = None, 0.0
        self.generation += 1
        process.kill()
        process.wait()
        _close(process)

    def _died(self, why: str) -> None:
        now = time.monotonic()
        self._deaths = 1 if self._process is None and self._began and now - self._began > STEADY else self._deaths + 1
        self._reason = why
        self._next = now + min(2.0 ** (self._deaths - 1) - 1, BACKOFF)
        say_unguarded(why)

    def _again(self) -> None:
        """Sees that a new process is started, without waiting for it."""
        with self._lock:
            if self._starting is not None or time.monotonic() < self._next:
                return
            self._starting = threading.Thread(target=self._replace, name="unloop-guard-start", daemon=True)
            with contextlib.suppress(RuntimeError):
                self._starting.start()

    def _replace(self) -> None:
        with self._pipe:
            try:
                if self._process is not None:
                    return
                self._launch()
                self.generation += 1
                self._reason = ""
                _log.again("unguarded")
                _log.log.info("the agent is guarded again")
            except GuardUnavailable as error:
                self._died(str(error))
            finally:
                self._starting = None

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        _close(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.5)
            return
        process.kill()
        process.wait()

    def after_fork(self) -> None:
        super().after_fork()
        process, self._process = self._process, None
        self._pipe, self._starting, self._rest = threading.Lock(), None, b""
        self._next = self._began = 0.0
        self._deaths = 0
        self.generation += 1
        if process is not None:  # it is the parent's; held open here, it would not see its parent's end
            _close(process)
            process.returncode = 0  # nor is it ours to wait for


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _wait(fd: int, what: int, end: float) -> None:
    poll = select.poll()
    poll.register(fd, what)
    if not poll.poll(max((end - time.monotonic()) * 1000, 0)):
        raise Hangs("the guard does not answer")


def _close_all() -> None:
    for child in _children.values():
        child.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for child in _children.values():
        child.after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
