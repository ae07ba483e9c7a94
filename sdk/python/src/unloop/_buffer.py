"""Events on disk while their server is unavailable: JSON Lines in files of a few MiB, in one folder shared by all processes.

Each process writes its own files. The first process that reaches the server again sends the files of all processes. It claims
a file by renaming it, which only one process can do, and deletes the file when the server has all of it. A file is locked
while a process writes or sends it: by an advisory lock, or on Windows by being open, since an open file cannot be renamed
there. A process that dies releases its locks, so that its files are sent too.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

SEGMENT = 4 << 20  # approximate size of a file in bytes


class Buffer:
    """The files of one endpoint in a folder. Safe for threads."""

    def __init__(self, folder: Path, endpoint: str, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._key = hashlib.sha256(endpoint.encode("utf-8", "replace")).hexdigest()[:12]
        self._lock = threading.RLock()
        self._file: io.FileIO | None = None
        self._size = 0  # of the open file
        self._other_bytes = 0  # bytes in the other files, when the open one was opened
        self._count = 0

    def append(self, lines: list[bytes]) -> int:
        """Writes lines in order until the size limit, and returns how many were written. Raises OSError."""
        with self._lock:
            written = 0
            if self._file is None or self._size >= SEGMENT:
                self._begin()
            room = self.limit - self._other_bytes - self._size
            for line in lines:
                room -= len(line)
                if room < 0:
                    break
                written += 1
            self._write(b"".join(lines[:written]))
            return written

    def _begin(self) -> None:
        self.seal()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._other_bytes = self.size()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._count += 1
        name = f"{self._key}-{time.time_ns():020d}-{os.getpid()}-{self._count}-{secrets.token_hex(4)}.jsonl"
        file = io.FileIO(os.open(self.folder / name, flags, 0o600), "wb")
        try:
            _lock_file(file)
        except OSError:  # a file system without locks: files that no process can claim must not accumulate
            file.close()
            os.unlink(self.folder / name)
            raise
        self._file, self._size = file, 0

    def _write(self, data: bytes) -> None:
        assert self._file is not None
        view = memoryview(data)
        try:
            while view:
                view = view[self._file.write(view) or 0 :]
        except OSError:
            with contextlib.suppress(OSError):
                self._file.truncate(self._size)  # remove a partial line
            raise
        self._size += len(data)

    def seal(self) -> None:
        """Closes the current file, so that any process may send it."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._size = None, 0

    def after_fork(self) -> None:
        """Closes the inherited file in a forked child. The file and its lock belong to the parent."""
        self._lock = threading.RLock()
        self.seal()

    def size(self) -> int:
        """Returns the bytes of all files in the folder, for all endpoints."""
        total = 0
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat().st_size if entry.name.endswith(".jsonl") else 0
        return total

    def files(self) -> list[Path]:
        """Returns the files of this endpoint, oldest first."""
        try:
            return sorted(self.folder.glob(self._key + "-*.jsonl"))
        except OSError:
            return []

    def claim(self) -> Segment | None:
        """Claims the oldest unclaimed file, and the current file of this process last. Returns None if there is none."""
        segment = next(filter(None, map(_claim, self.files())), None)
        if segment is None and self._file is not None:
            self.seal()
            segment = next(filter(None, map(_claim, self.files())), None)
        return segment


class Segment:
    """A file that this process has claimed and reads."""

    def __init__(self, path: Path, file: io.BufferedReader) -> None:
        self.path = path
        self._file = file

    def batches(self, events: int, size: int) -> Iterator[list[bytes]]:
        """Yields the lines in batches. An incomplete last line, left by a process that died, is skipped."""
        batch: list[bytes] = []
        held = 0
        for line in self._file:
            if not line.endswith(b"\n"):
                break
            if batch and (len(batch) >= events or held + len(line) > size):
                yield batch
                batch, held = [], 0
            batch.append(line)
            held += len(line)
        if batch:
            yield batch

    def release(self) -> None:
        """Unlocks the file, so that any process may claim it later."""
        if fcntl is not None:  # a child that was forked in the meantime may hold the file open, and the lock with it
            fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)
        self._file.close()

    def delete(self) -> None:
        if fcntl is not None:
            self.path.unlink(missing_ok=True)  # while the lock is held
        self._file.close()
        self.path.unlink(missing_ok=True)


def _claim(path: Path) -> Segment | None:
    head = path.name.rsplit("-", 1)[0]
    new = path.with_name(f"{head}-{secrets.token_hex(4)}.jsonl")  # keeps its position in the order
    file: io.BufferedReader | None = None
    try:
        if fcntl is not None:
            file = open(path, "rb")  # noqa: SIM115
            _lock_file(file)
        os.rename(path, new)
        return Segment(new, file or open(new, "rb"))
    except OSError:  # another process claimed or deleted it
        if file is not None:
            file.close()
        return None


def _lock_file(file: io.IOBase) -> None:
    if fcntl is not None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
