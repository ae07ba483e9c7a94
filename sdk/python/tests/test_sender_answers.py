"""How the sender reads a server's answers: errors, refusals, limits, and no answer."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Callable

import pytest

import unloop
from conftest import Scripted, Server, until
from sending import adds_up, tell
from unloop import _sender


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
