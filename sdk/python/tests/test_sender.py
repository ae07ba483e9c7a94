"""Events reach the server: late, after it was away, from the next process; or they are counted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import unloop
from conftest import ROOT, Scripted, Server, free_port, until
from unloop import _sender
from unloop._buffer import Buffer


def texts(server: Server, id: str) -> list[str]:
    return [event["text"] for event in server.events(id) if event["type"] == "message"]


def tell(run: unloop.Run, numbers: range) -> None:
    for i in numbers:
        run.event("message", text=str(i))


def adds_up() -> unloop.Stats:
    """Every event given is in one place."""
    stats = unloop.stats()
    assert stats.given == stats.sent + stats.buffered + stats.dropped + stats.queued
    return stats


def test_events_arrive_without_being_asked_for(server: Server) -> None:
    run = unloop.Run.begin("hello", id="r1")
    run.event("message", text="1")
    until(lambda: server.get("/api/runs/r1") is not None and texts(server, "r1") == ["1"])


def test_a_server_gets_the_missed_events_when_it_is_back(
    make_server: Callable[..., Server], logged: Callable[[], list[str]]
) -> None:
    server = make_server()
    unloop.configure(endpoint=server.url)
    run = unloop.Run.begin("hello", id="r1")
    tell(run, range(100))
    assert not unloop.flush()
    assert adds_up().buffered == 101
    assert len(logged()) == 1, "that a server is away is logged once"
    tell(run, range(100, 200))
    server.start()
    tell(run, range(200, 300))
    until(unloop.flush)
    assert texts(server, "r1") == [str(i) for i in range(300)]
    assert adds_up().dropped == 0
    assert list((Path(os.environ["UNLOOP_BUFFER"])).iterdir()) == []


def test_a_server_that_comes_back_is_noticed_by_itself(
    make_server: Callable[..., Server], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sender, "BACKOFF", (0.05, 0.1))
    server = make_server()
    unloop.configure(endpoint=server.url)
    run = unloop.Run.begin("hello", id="r1")
    tell(run, range(3))
    until(lambda: unloop.stats().buffered == 4)
    server.start()
    until(lambda: unloop.stats().replayed == 4)
    assert texts(server, "r1") == ["0", "1", "2"]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_server_that_is_restarted_in_mid_stream_loses_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch, how: signal.Signals
) -> None:
    monkeypatch.setattr(_sender, "BACKOFF", (0.01, 0.1))
    stop = threading.Event()
    sent = 0

    def work() -> None:
        nonlocal sent
        with unloop.trace("hello", id="r1"):
            while not stop.wait(0.0005):
                unloop.event("message", text=str(sent))
                sent += 1

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(3):
        before = unloop.stats().sent
        until(lambda before=before: unloop.stats().sent > before + 100)  # type: ignore[misc]
        server.stop(how)
        before = unloop.stats().buffered
        until(lambda before=before: unloop.stats().buffered > before + 100)  # type: ignore[misc]
        server.start()
    stop.set()
    thread.join()
    until(unloop.flush)
    assert texts(server, "r1") == [str(i) for i in range(sent)]
    assert adds_up().dropped == 0


def program(body: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a program with the package, to its end."""
    return subprocess.run(
        [sys.executable, "-c", "import unloop, os, sys\n" + body],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), **env},
        capture_output=True,
        text=True,
        timeout=180,
    )


def test_the_end_of_a_program_sends_what_it_has(server: Server) -> None:
    done = program(
        "with unloop.trace('p', id='p'):\n  for i in range(50): unloop.event('message', text=str(i))", UNLOOP_ENDPOINT=server.url
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert texts(server, "p") == [str(i) for i in range(50)]


def test_the_next_program_sends_what_the_last_one_left(make_server: Callable[..., Server]) -> None:
    server = make_server()
    for name in "ab":
        done = program(f"with unloop.trace('p', id={name!r}): unloop.event('message', text='x')", UNLOOP_ENDPOINT=server.url)
        assert done.returncode == 0
        assert "away" not in done.stdout
    server.start()
    unloop.configure(endpoint="http://127.0.0.1:1")
    with unloop.trace("elsewhere"):
        pass
    unloop.flush()
    assert server.runs() == [], "what was meant for one server does not go to another"
    unloop.configure(endpoint=server.url)
    with unloop.trace("p", id="c"):
        pass
    assert unloop.flush()
    assert sorted(run["id"] for run in server.runs()) == ["a", "b", "c"]
    assert unloop.stats().replayed == 6


def test_a_program_that_is_killed_leaves_what_it_buffered(make_server: Callable[..., Server]) -> None:
    server = make_server()
    done = program(
        "r = unloop.Run.begin('p', id='p')\nr.event('message', text='x')\nunloop.flush()\nos.kill(os.getpid(), 9)",
        UNLOOP_ENDPOINT=server.url,
    )
    assert done.returncode == -9
    (left,) = Path(os.environ["UNLOOP_BUFFER"]).iterdir()
    with left.open("ab") as file:
        file.write(b'{"event_id":"half a li')
    server.start()
    unloop.configure(endpoint=server.url)
    with unloop.trace("p", id="c"):
        pass
    assert unloop.flush()
    assert texts(server, "p") == ["x"]
    assert unloop.stats().rejected == 0


def test_processes_that_share_a_folder_do_not_spoil_one_another(make_server: Callable[..., Server]) -> None:
    server = make_server()
    body = "r = unloop.Run.begin('p', id=sys.argv[1])\nfor i in range(2000): r.event('message', text=str(i))\n"
    body += "unloop.flush(); unloop.flush()"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), "UNLOOP_ENDPOINT": server.url}
    command = [sys.executable, "-c", "import unloop, sys\n" + body]
    programs = [subprocess.Popen([*command, f"p{i}"], env=env, stderr=subprocess.DEVNULL) for i in range(4)]
    server.start()  # some buffer, some send, some replay what others left
    assert [p.wait(60) for p in programs] == [0] * 4
    unloop.configure(endpoint=server.url)
    with unloop.trace("last", id="last"):
        pass
    assert unloop.flush()
    for i in range(4):
        assert texts(server, f"p{i}") == [str(n) for n in range(2000)]


def test_twenty_threads_and_nothing_is_lost(server: Server) -> None:
    runs = [unloop.Run.begin("t", id=f"t{i}") for i in range(20)]
    threads = [threading.Thread(target=tell, args=(run, range(500))) for run in runs]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    until(unloop.flush)
    for i in range(20):
        assert texts(server, f"t{i}") == [str(n) for n in range(500)]
    assert adds_up().dropped == 0


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


@pytest.mark.parametrize("status", [429, 500, 503, 401, 404])
def test_a_server_in_trouble_is_asked_again(scripted: type[Scripted], status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sender, "LINGER", 60.0)  # only a flush sends
    scripted.answers += [(status, {}, {"detail": "not now"})] * 2
    run = unloop.Run.begin("hello")
    assert not unloop.flush()
    run.event("message", text="x")
    assert not unloop.flush()
    assert unloop.flush()
    stats = adds_up()
    assert (stats.rejected, stats.replayed) == (0, 2)


def test_a_server_says_when_to_come_again(scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sender, "BACKOFF", (0.0, 0.0))
    scripted.answers += [(429, {"Retry-After": "1"}, {})]
    began = time.monotonic()
    unloop.Run.begin("hello")
    until(lambda: unloop.stats().replayed == 1)
    assert time.monotonic() - began >= 1


def test_what_is_refused_is_counted_and_said_once(scripted: type[Scripted], logged: Callable[[], list[str]]) -> None:
    errors = [{"index": 0, "field": "cost", "reason": "a JSON string does not fit here"}]
    scripted.answers += [(400, {}, {"field": "cost", "reason": "a JSON string does not fit here", "errors": errors})] * 2
    for _ in range(2):
        unloop.Run.begin("hello")
        assert unloop.flush()
    stats = adds_up()
    assert (stats.rejected, stats.sent) == (2, 2)
    assert logged() == ["the server rejected an event: cost: a JSON string does not fit here"]


def test_a_connection_that_was_closed_meanwhile_is_nothing_to_speak_of(
    scripted: type[Scripted], logged: Callable[[], list[str]]
) -> None:
    scripted.answers += [(201, {"X-Hang-Up": "yes"}, {"accepted": 1, "rejected": 0, "errors": []})]
    for _ in range(2):
        unloop.Run.begin("hello")
        assert unloop.flush()
    assert (adds_up().sent, logged()) == (2, [])


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


def test_what_is_too_much_at_once_is_halved(scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sender, "LINGER", 60.0)  # only a flush sends
    scripted.answers += [(413, {}, {})] * 3
    tell(unloop.Run("hello"), range(8))
    assert unloop.flush()
    assert [body.count(b"\n") for body in scripted.bodies] == [8, 4, 2, 1, 1, 2, 4]
    assert adds_up().rejected == 0


def test_only_a_valid_token_is_accepted(make_server: Callable[..., Server], logged: Callable[[], list[str]]) -> None:
    made = subprocess.run(
        [make_server().program, "config", "token", "--name", "ci", "--scope", "ingest"],
        capture_output=True,
        text=True,
        check=True,
    )
    (secret,) = [word for word in made.stderr.split() if word.startswith("unloop_")]
    server = make_server(config=made.stdout).start()
    unloop.configure(endpoint=server.url)
    unloop.Run.begin("hello")
    assert not unloop.flush()
    assert "UNLOOP_TOKEN" in logged()[0]
    unloop.configure(token=secret)
    unloop.Run.begin("again")
    assert unloop.flush()
    assert unloop.stats().replayed == 1


def test_a_server_that_hangs_holds_nobody_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        unloop.configure(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        run = unloop.Run.begin("hello")
        began = time.monotonic()
        tell(run, range(1000))
        assert time.monotonic() - began < 5
        unloop.shutdown(0.3)
        assert time.monotonic() - began < 9, "a request may take 10"
        assert adds_up().buffered == 1001


def test_an_endpoint_that_is_none_is_said(logged: Callable[[], list[str]]) -> None:
    unloop.configure(endpoint="not a url")
    unloop.Run.begin("hello")
    assert not unloop.flush()
    assert "cannot reach the server at not a url" in logged()[0]


def test_settings_that_change_find_what_came_before_on_its_way(server: Server, make_server: Callable[..., Server]) -> None:
    other = make_server().start()
    unloop.Run.begin("first", id="first")
    unloop.configure(endpoint=other.url)
    unloop.Run.begin("second", id="second")
    assert unloop.flush()
    assert ([r["id"] for r in server.runs()], [r["id"] for r in other.runs()]) == (["first"], ["second"])


def test_after_a_shutdown_events_begin_anew(server: Server) -> None:
    unloop.Run.begin("first", id="first")
    unloop.shutdown()
    unloop.Run.begin("second", id="second")
    assert unloop.flush()
    assert sorted(r["id"] for r in server.runs()) == ["first", "second"]


def test_the_sending_thread_imports_nothing(server: Server) -> None:
    """A process that is forked during an import by another thread never gets the module."""
    body = "before = set(sys.modules)\nunloop.Run.begin('p')\nprint(unloop.flush(60), set(sys.modules) - before)"
    assert program(body, UNLOOP_ENDPOINT=server.url).stdout == "True set()\n"


FORKS = """
import multiprocessing, threading
def child(n):
    with unloop.trace('c', id=f'c{n}'):
        for i in range(100): unloop.event('message', text=str(i))
if __name__ == '__main__':
    stop = threading.Event()
    def noise():
        r = unloop.Run.begin('noise', id='noise')
        while not stop.wait(0.0001): r.event('message', text='x')
    t = threading.Thread(target=noise); t.start()
    run = unloop.Run.begin('p', id='p')
    context = multiprocessing.get_context('fork')
    ps = [context.Process(target=child, args=(n,)) for n in range(8)]
    for p in ps: p.start()
    pid = os.fork()
    if pid == 0:
        for i in range(50): run.event('message', text='child of a fork')
        child(8)
        unloop.flush(60)
        os._exit(0)
    for i in range(50): run.event('message', text='parent')
    os.waitpid(pid, 0)
    for p in ps: p.join()
    stop.set(); t.join()
    print([p.exitcode for p in ps])
"""


def test_forks_send_what_is_theirs_and_only_that(server: Server, tmp_path: Path) -> None:
    done = program(FORKS, UNLOOP_ENDPOINT=server.url)
    assert done.stdout.strip() == str([0] * 8), done.stderr
    for n in range(9):
        assert texts(server, f"c{n}") == [str(i) for i in range(100)]
    told = texts(server, "p")
    assert (told.count("parent"), told.count("child of a fork")) == (50, 50), "they go on with one run, in two processes"
    assert server.get("/api/health") is not None
