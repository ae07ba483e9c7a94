"""What comes at a bad moment: a server that hangs at the end, a Ctrl-C, a fork, a log that has to do with events. Nothing is lost
that is not counted, and nobody waits."""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import unloop
from conftest import Scripted, Server, ctrl_c, until
from sending import adds_up, program, tell, texts
from unloop import _core, _sender
from unloop._buffer import Buffer


@pytest.mark.parametrize("then", ["answers", "fails"])
def test_a_thread_that_was_left_behind_ends_and_sends_no_more(scripted: type[Scripted], then: str) -> None:
    scripted.goes.clear()
    if then == "fails":
        scripted.answers += [(503, {}, {})] * 9
    tell(unloop.Run("hello"), range(3000))
    until(lambda: len(scripted.bodies) == 1)
    assert _core._sender is not None
    thread = _core._sender._thread
    assert thread is not None
    unloop.shutdown(0)
    assert adds_up().buffered == 3000
    scripted.goes.set()
    thread.join(10)
    assert not thread.is_alive()
    assert len(scripted.bodies) == 1


def test_a_thread_that_was_left_behind_takes_nothing_from_the_next(scripted: type[Scripted]) -> None:
    scripted.goes.clear()
    run = unloop.Run("hello")
    tell(run, range(10))
    until(lambda: len(scripted.bodies) == 1)
    unloop.shutdown(0)
    tell(run, range(10, 20))
    until(lambda: len(scripted.bodies) == 2)
    scripted.goes.set()
    until(unloop.flush)
    stats = adds_up()
    assert (stats.given, stats.sent, stats.buffered, stats.replayed) == (20, 10, 10, 10)


def test_an_end_without_time_and_without_room_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the interpreter begins no thread any more."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    unloop.configure(buffer="off", endpoint="http://127.0.0.1:1")
    tell(unloop.Run("hello"), range(50))
    try:
        with ctrl_c(5):
            unloop.shutdown(0)
    except KeyboardInterrupt:
        pytest.fail("it has no end")
    assert adds_up().dropped == 50


def test_who_will_not_wait_at_the_end_loses_nothing(scripted: type[Scripted]) -> None:
    scripted.goes.clear()
    tell(unloop.Run("hello"), range(50))
    with pytest.raises(KeyboardInterrupt), ctrl_c(1):
        unloop.shutdown(60)
    assert adds_up().buffered == 50


@pytest.mark.parametrize("forever", [float("inf"), 1e300])
def test_a_wait_of_any_length_is_one(server: Server, forever: float) -> None:
    unloop.Run.begin("hello")
    assert unloop.flush(forever)
    unloop.shutdown(forever)
    unloop.Run.begin("hello")
    assert not unloop.flush(float("nan"))


@pytest.mark.parametrize("buffer", ["off", "full"])
def test_an_agent_that_is_faster_than_the_server_is_waited_for_where_files_have_no_room(
    scripted: type[Scripted], buffer: str
) -> None:
    unloop.configure(buffer="off") if buffer == "off" else unloop.configure(buffer_bytes=1000)
    unloop.configure(queue_events=4500)
    scripted.goes.clear()
    run = unloop.Run("hello")
    tell(run, range(4400))
    until(lambda: len(scripted.bodies) == 1)
    scripted.goes.set()
    until(lambda: unloop.stats().sent + unloop.stats().replayed == 4400)
    assert adds_up().dropped == 0


def test_a_log_that_has_to_do_with_events_holds_nobody_up() -> None:
    waited = []

    class Forwards(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            thread = threading.Thread(target=unloop.Run("log").event, args=("message",))
            thread.start()
            thread.join(60)
            waited.append(thread.is_alive())

    unloop.configure(queue_events=1, endpoint="http://127.0.0.1:1")
    handler = Forwards()
    logging.getLogger("unloop").addHandler(handler)
    try:
        tell(unloop.Run("hello"), range(100))
        unloop.shutdown(0)
    finally:
        logging.getLogger("unloop").removeHandler(handler)
    assert waited
    assert not any(waited)


def test_a_file_that_is_let_go_is_free_though_a_child_holds_it_open(tmp_path: Path) -> None:
    mine, other = (Buffer(tmp_path, "http://a", 1 << 20) for _ in range(2))
    mine.append([b"1\n"])
    mine.seal()
    claimed = mine.claim()
    assert claimed is not None
    child = subprocess.Popen(["sleep", "60"], pass_fds=[claimed._file.fileno()])
    try:
        claimed.release()
        again = other.claim()
        assert again is not None
        again.delete()
    finally:
        child.kill()
        child.wait()


def test_a_file_system_without_locks_is_not_littered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[str]]
) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    unloop.configure(endpoint="http://127.0.0.1:1")
    tell(unloop.Run("hello"), range(5))
    assert not unloop.flush()
    assert not unloop.flush()
    assert list(Path(os.environ["UNLOOP_BUFFER"]).iterdir()) == []
    assert adds_up().queued == 5
    assert "events cannot be buffered" in logged()[1]


def test_a_fork_lets_go_of_what_it_held() -> None:
    """Though another thread configures meanwhile."""
    unloop.Run.begin("hello")
    first = _core._sender
    assert first is not None
    _core._before_fork()
    _core._sender = _sender.Sender(_core.settings())
    _core._in_parent()
    free: list[bool] = []
    thread = threading.Thread(target=lambda: free.append(first.lock.acquire(timeout=60)))
    thread.start()
    thread.join()
    assert free == [True]


HOMELESS = """
os.environ.pop('HOME', None); os.environ.pop('UNLOOP_BUFFER', None)
import pathlib
def none(): raise RuntimeError('Could not determine home directory.')
pathlib.Path.home = none
unloop.event('message', text='of no run')
with unloop.trace('p', id='p'): unloop.event('message', text='x')
print(unloop.flush())
"""


def test_a_program_without_a_home_sends_its_events(server: Server) -> None:
    done = program(HOMELESS, UNLOOP_ENDPOINT=server.url)
    assert done.stdout.strip() == "True", done.stderr
    assert "set UNLOOP_BUFFER to a folder" in done.stderr
    assert texts(server, "p") == ["x"]


WORKERS = """
import multiprocessing
import unloop

def work(name):
    with unloop.trace("w", id=name):
        unloop.event("message", text="x")

if __name__ == "__main__":
    context = multiprocessing.get_context("{}")
    workers = [context.Process(target=work, args=(name,)) for name in ("a", "b")]
    for w in workers: w.start()
    for w in workers: w.join()
"""


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
def test_workers_of_every_kind_send_what_they_have_at_their_end(server: Server, tmp_path: Path, method: str) -> None:
    script = tmp_path / "main.py"
    script.write_text(WORKERS.format(method))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "UNLOOP_ENDPOINT": server.url}
    subprocess.run([sys.executable, str(script)], env=env, check=True, timeout=180)
    assert sorted(run["id"] for run in server.runs()) == ["a", "b"]
    assert texts(server, "a") == ["x"]
