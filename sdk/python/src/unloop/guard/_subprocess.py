"""The child processes `unloop guard`, one per profile and settings. The calling thread writes the request and reads the
response itself, so that no thread switch is needed. A process that hangs is killed. A process that exited is restarted in the
background."""

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
from ._transport import Transport, Unavailable, log_unguarded

BACKOFF = 60.0  # longest delay in seconds until the next start of a process
STABLE_SECONDS = 10.0  # a process that ran longer resets the backoff

Key = tuple[str, tuple[tuple[str, str], ...]]

_processes: dict[Key, GuardProcess] = {}
_lock = threading.Lock()


def process_for(profile: str, settings: Mapping[str, Any] | None) -> GuardProcess:
    """Returns the process for a profile and its settings. It may not have been started yet."""
    sorted_settings = tuple(
        sorted((str(name), v if isinstance(v, str) else json.dumps(v)) for name, v in (settings or {}).items())
    )
    with _lock:
        return _processes.setdefault((profile, sorted_settings), GuardProcess(profile, sorted_settings))


class Unresponsive(Unavailable):
    """The process is alive and does not respond in time."""


class GuardProcess(Transport):
    """A child process, restarted when it exits."""

    def __init__(self, profile: str, settings: tuple[tuple[str, str], ...]) -> None:
        super().__init__()
        self.flags = ["--profile", profile, *(f"--set={name}={value}" for name, value in settings)]
        self._pipe_lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._unread_output = b""
        self._starting: threading.Thread | None = None
        self._failures = 0
        self._next_start = 0.0  # earliest time of the next start
        self._started_at = 0.0
        self._reason = ""

    def start(self) -> None:
        """Starts the process if necessary, and waits up to 5 seconds for its first response. Raises GuardUnavailable."""
        with self._pipe_lock:
            if self._process is not None or self._starting is not None:
                return
            try:
                self._launch()
            except GuardUnavailable as error:
                self._record_failure(str(error))
                raise

    def _launch(self) -> None:
        if os.name == "nt":
            raise GuardUnavailable("the guard's child process does not run on Windows: pass an endpoint")
        command = [find(), "guard", *self.flags]
        try:
            process = subprocess.Popen(
                command, bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise GuardUnavailable(f"cannot start {command[0]}: {error.strerror}") from error
        assert process.stdin and process.stdout
        os.set_blocking(process.stdin.fileno(), False)
        self._process, self._unread_output, self._started_at = process, b"", time.monotonic()
        try:
            self._write_and_read(process, [b'{"op":"stats"}\n'], time.monotonic() + 5)
        except Unavailable as error:
            raise GuardUnavailable(self._terminate(process, error)) from None
        except BaseException:
            self._kill(process)
            raise

    def prepare(self) -> None:
        if self._process is not None:
            return
        if self._next_start == 0.0:
            with contextlib.suppress(GuardUnavailable):
                self.start()
        if self._process is None:
            self._restart_in_background()
            raise Unavailable(self._reason or "the guard is starting")

    def exchange(self, lines: list[bytes], deadline: float) -> list[bytes]:
        if not self._pipe_lock.acquire(timeout=max(deadline - time.monotonic(), 0)):
            raise Unavailable("the guard does not answer")
        try:
            if self._process is None:
                raise Unavailable(self._reason or "the guard is starting")
            process = self._process
            try:
                return self._write_and_read(process, lines, deadline)
            except Unavailable as error:
                self._record_failure(self._terminate(process, error))
                raise
            except BaseException:
                self._kill(process)
                raise
        finally:
            self._pipe_lock.release()

    def _write_and_read(self, process: subprocess.Popen[bytes], lines: list[bytes], deadline: float) -> list[bytes]:
        assert process.stdin and process.stdout
        try:
            self._write(process.stdin.fileno(), b"".join(lines), deadline)
            return self._read(process.stdout.fileno(), len(lines), deadline)
        except (OSError, ValueError):  # a broken pipe, or one that was closed
            raise Unavailable("the guard exited") from None

    def _write(self, fd: int, data: bytes, deadline: float) -> None:
        done = 0
        while True:
            try:
                done += os.write(fd, data[done:] if done else data)
            except BlockingIOError:
                _wait(fd, select.POLLOUT, deadline)
            if done >= len(data):
                return

    def _read(self, fd: int, number: int, deadline: float) -> list[bytes]:
        parts, ends = [self._unread_output], self._unread_output.count(b"\n")
        while ends < number:
            _wait(fd, select.POLLIN, deadline)
            part = os.read(fd, 1 << 18)
            if not part:
                raise Unavailable("the guard exited")
            parts.append(part)
            ends += part.count(b"\n")
        answers = b"".join(parts).split(b"\n", number)
        self._unread_output = answers.pop()
        return answers

    def _terminate(self, process: subprocess.Popen[bytes], why: Unavailable) -> str:
        """Ends a failed process and returns the reason: its error message if it exited with status 2, else why."""
        self._process = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0 if isinstance(why, Unresponsive) else 2)
        process.kill()
        code = process.wait()
        stderr = process.stderr.read(10_000) if process.stderr and code == 2 else b""
        _close(process)
        lines = stderr.decode("utf-8", "replace").strip().splitlines()
        return lines[0][:300] if lines else str(why)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """Kills a process after an interrupted exchange, because its late response would be read as that of the next request.
        The next request starts another process."""
        self._process, self._next_start = None, 0.0
        self.generation += 1
        process.kill()
        process.wait()
        _close(process)

    def _record_failure(self, why: str) -> None:
        now = time.monotonic()
        self._failures = (
            1 if self._process is None and self._started_at and now - self._started_at > STABLE_SECONDS else self._failures + 1
        )
        self._reason = why
        self._next_start = now + min(2.0 ** (self._failures - 1) - 1, BACKOFF)
        log_unguarded(why)

    def _restart_in_background(self) -> None:
        """Starts a new process in a thread, unless one is starting or the backoff has not passed."""
        with self._lock:
            if self._starting is not None or time.monotonic() < self._next_start:
                return
            self._starting = threading.Thread(target=self._restart, name="unloop-guard-start", daemon=True)
            with contextlib.suppress(RuntimeError):
                self._starting.start()

    def _restart(self) -> None:
        with self._pipe_lock:
            try:
                if self._process is not None:
                    return
                self._launch()
                self.generation += 1
                self._reason = ""
                _log.reset_warning("unguarded")
                _log.log.info("the agent is guarded again")
            except GuardUnavailable as error:
                self._record_failure(str(error))
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
        self._pipe_lock, self._starting, self._unread_output = threading.Lock(), None, b""
        self._next_start = self._started_at = 0.0
        self._failures = 0
        self.generation += 1
        if process is not None:  # it belongs to the parent: an open pipe here would hide the parent's exit from it
            _close(process)
            process.returncode = 0  # only the parent can wait for it


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _wait(fd: int, what: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(fd, what)
    if not poll.poll(max((deadline - time.monotonic()) * 1000, 0)):
        raise Unresponsive("the guard timed out")


def _close_all() -> None:
    for process in _processes.values():
        process.close()


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    for process in _processes.values():
        process.after_fork()


atexit.register(_close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
