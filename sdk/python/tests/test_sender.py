"""Events reach the server, also if it is away for a time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import unloop
from conftest import Server, until
from sending import adds_up, tell, texts
from unloop import _sender


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
