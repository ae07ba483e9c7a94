"""Events on disk, for as long as their server is away: JSON Lines in files of a few MiB, in one folder for all processes.

Each process writes files of its own. Whoever finds the server again, perhaps a later process, sends what all have left:
it claims a file by renaming it, which only one can do, and deletes it when the server has all of it. A file that somebody
writes or sends is locked, by an advisory lock where there is one, and by being open where (on Windows) an open file
cannot be renamed. A process that dies lets go of its locks, so what it left is found too.
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

SEGMENT = 4 << 20  # bytes, about, of a file


class Buffer:
    """The files of one endpoint in a folder. Safe for threads."""

    def __init__(self, folder: Path, endpoint: str, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._key = hashlib.sha256(endpoint.encode("utf-8", "replace")).hexdigest()[:12]
        self._lock = threading.RLock()
        self._file: io.FileIO | None = None
        self._size = 0  # of the open file
        self._others = 0  # bytes in the other files, when the open one was opened
        self._count = 0

    def append(self, lines: list[bytes]) -> int:
        """Writes lines, and returns how many of them, from the first, found room. Raises OSError."""
        with self._lock:
            kept = 0
            if self._file is None or self._size >= SEGMENT:
                self._begin()
            room = self.limit - self._others - self._size
            for line in lines:
                room -= len(line)
                if room < 0:
                    break
                kept += 1
            self._write(b"".join(lines[:kept]))
            return kept

    def _begin(self) -> None:
        self.seal()
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._others = self.size()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._count += 1
        name = f"{self._key}-{time.time_ns():020d}-{os.getpid()}-{self._count}-{secrets.token_hex(4)}.jsonl"
        file = io.FileIO(os.open(self.folder / name, flags, 0o600), "wb")
        try:
            _lock_file(file)
        except OSError:  # a file system without locks: what nobody could claim must not pile up
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
                self._file.truncate(self._size)  # no half a line
            raise
        self._size += len(data)

    def seal(self) -> None:
        """Lets go of the file that is written, so that anybody may send it."""
        with self._lock:
            if self._file is not None:
                self._file.close()
            self._file, self._size = None, 0

    def forget(self) -> None:
        """Lets go of it in a forked child: the file is its parent's, and so is the lock. Nobody else may hold it open."""
        self._lock = threading.RLock()
        self.seal()

    def size(self) -> int:
        """Returns how many bytes wait, for whichever endpoint."""
        total = 0
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat().st_size if entry.name.endswith(".jsonl") else 0
        return total

    def files(self) -> list[Path]:
        """Returns the files that wait, the oldest first."""
        try:
            return sorted(self.folder.glob(self._key + "-*.jsonl"))
        except OSError:
            return []

    def claim(self) -> Segment | None:
        """Takes the oldest file that nobody else has, and the one that is written here at last."""
        segment = next(filter(None, map(_claim, self.files())), None)
        if segment is None and self._file is not None:
            self.seal()
            segment = next(filter(None, map(_claim, self.files())), None)
        return segment


class Segment:
    """A file that this process has claimed, and reads."""

    def __init__(self, path: Path, file: io.BufferedReader) -> None:
        self.path = path
        self._file = file

    def batches(self, events: int, size: int) -> Iterator[list[bytes]]:
        """Yields its lines. A last line that is not whole is left out: whoever wrote it died over it."""
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
        """Leaves it for another time, or for another process."""
        if fcntl is not None:  # a child that was forked meanwhile may hold it open, and the lock with it
            fcntl.flock(self._file.fileno(), fcntl.LOCK_UN)
        self._file.close()

    def delete(self) -> None:
        if fcntl is not None:
            self.path.unlink(missing_ok=True)  # before the lock goes
        self._file.close()
        self.path.unlink(missing_ok=True)


def _claim(path: Path) -> Segment | None:
    head = path.name.rsplit("-", 1)[0]
    new = path.with_name(f"{head}-{secrets.token_hex(4)}.jsonl")  # keeps its place in the order
    file: io.BufferedReader | None = None
    try:
        if fcntl is not None:
            file = open(path, "rb")  # noqa: SIM115
            _lock_file(file)
        os.rename(path, new)
        return Segment(new, file or open(new, "rb"))
    except OSError:  # it is somebody else's, or gone
        if file is not None:
            file.close()
        return None


def _lock_file(file: io.IOBase) -> None:
    if fcntl is not None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
