"""The queue and the buffer have bounds. What finds no room is counted and reported."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import unloop
from conftest import free_port, until
from sending import adds_up, tell
from unloop._buffer import Buffer


def test_what_finds_no_room_is_dropped_counted_and_said(logged: Callable[[], list[str]]) -> None:
    unloop.configure(endpoint=f"http://127.0.0.1:{free_port()}", buffer="off", queue_events=50)
    run = unloop.Run.begin("hello")
    tell(run, range(200))
    assert not unloop.flush()
    stats = adds_up()
    assert (stats.queued, stats.dropped) == (50, 151)
    unloop.shutdown(0.2)
    assert adds_up().dropped == 201
    assert len([line for line in logged() if "dropped" in line]) == 2


def test_bytes_are_bounded_too() -> None:
    unloop.configure(endpoint=f"http://127.0.0.1:{free_port()}", buffer="off", queue_bytes=100_000)
    run = unloop.Run.begin("hello")
    for _ in range(20):
        run.event("message", text="x" * 20_000)
    assert adds_up().queued == 5


def test_a_full_buffer_keeps_to_its_bound(logged: Callable[[], list[str]]) -> None:
    unloop.configure(endpoint=f"http://127.0.0.1:{free_port()}", buffer_bytes=100_000, queue_events=100)
    run = unloop.Run.begin("hello")
    for _ in range(100):
        run.event("message", text="x" * 2000)
        unloop.flush(0.05)
    until(lambda: [line for line in logged() if line.startswith("the buffer in ") and line.endswith(" is full")] != [])
    stats = adds_up()
    assert stats.buffered < 50
    assert sum(f.stat().st_size for f in Path(os.environ["UNLOOP_BUFFER"]).iterdir()) <= 100_000


def test_a_buffer_that_cannot_be_written_is_said_and_harmless(tmp_path: Path, logged: Callable[[], list[str]]) -> None:
    (tmp_path / "file").write_text("in the way")
    unloop.configure(endpoint=f"http://127.0.0.1:{free_port()}", buffer=tmp_path / "file")
    run = unloop.Run.begin("hello")
    tell(run, range(10))
    assert not unloop.flush()
    assert adds_up().queued == 11
    assert [line for line in logged() if "cannot be buffered" in line]


def test_a_file_is_its_writers_until_it_is_let_go(tmp_path: Path) -> None:
    mine, other = (Buffer(tmp_path, "http://a", 1 << 20) for _ in range(2))
    assert mine.append([b"1\n", b"2\n"]) == 2
    assert other.claim() is None
    mine.seal()
    claimed = other.claim()
    assert claimed is not None
    assert mine.claim() is None
    assert list(claimed.batches(1, 100)) == [[b"1\n"], [b"2\n"]]
    claimed.release()
    again = mine.claim()
    assert again is not None
    again.delete()
    assert mine.files() == []
