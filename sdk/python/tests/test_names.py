"""Names and ids: as many bytes as the server takes, cut as the server would."""

from __future__ import annotations

import hashlib

import unloop
from conftest import Server
from unloop._run import MAX_NAME
from unloop._serialize import shorten


def test_a_run_with_a_long_name_arrives(server: Server) -> None:
    for number, name in enumerate(["訂單" * 200, "🦊" * 129, "n" * 600, "n" * MAX_NAME, "訂" * 170]):
        with unloop.trace(name, id=f"r{number}"):
            unloop.event("tool_call_started", tool=name)
        assert unloop.flush()
        row, events = server.run(f"r{number}"), server.events(f"r{number}")
        assert row["name"] == shorten(name, MAX_NAME)
        assert [event["type"] for event in events] == ["run_started", "tool_call_started", "run_completed"]
        assert events[1]["tool"] == shorten(name, MAX_NAME)
    assert unloop.stats().rejected == 0


def test_a_long_id_is_the_same_run_here_and_there(server: Server) -> None:
    id = "訂" * 300
    with unloop.trace("here", id=id):
        unloop.event("message", text="hi")
    assert unloop.flush()
    assert len(server.events(shorten(id, MAX_NAME))) == 3


def test_a_name_is_cut_between_characters() -> None:
    for text in ["訂" * 300, "a訂" * 300, "aé" * 300, "🦊" * 300, "a" * 513]:
        short = shorten(text, MAX_NAME)
        start, _, end = short.partition("…")
        assert MAX_NAME - 4 < len(short.encode()) <= MAX_NAME
        assert text.startswith(start)
        assert end == hashlib.sha256(text.encode()).hexdigest()
        assert short != shorten(text + "b", MAX_NAME)
    assert shorten("訂" * 170, MAX_NAME) == "訂" * 170
    assert len(shorten("half a character \ud800" * 100, MAX_NAME).encode()) <= MAX_NAME
