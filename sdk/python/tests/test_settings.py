"""The settings of the package."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

import unloop
from conftest import Server


def test_a_disabled_package_records_nothing(server: Server) -> None:
    before = set(threading.enumerate())  # a sender of an earlier test may still end
    unloop.configure(enabled=False)

    @unloop.observe
    def search(query: str) -> str:
        return query

    with unloop.trace("hello") as run:
        assert search("x") == "x"
        assert unloop.event("message", text="x") == ""
        assert run.event("message") == ""
    assert unloop.flush()
    assert unloop.stats() == unloop.Stats()
    assert server.runs() == []
    assert "unloop-sender" not in [t.name for t in set(threading.enumerate()) - before]


def test_a_password_in_an_endpoint_is_not_logged(logged: Callable[[], list[str]]) -> None:
    unloop.configure(endpoint="http://me:hunter2@127.0.0.1:1/base")
    unloop.Run.begin("hello")
    assert not unloop.flush()
    unloop.Guard(endpoint="http://me:hunter2@127.0.0.1:1/", on_missing="warn").user("x")
    assert "127.0.0.1:1/base" in " ".join(logged())
    assert "hunter2" not in " ".join(logged())


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[str]]) -> None:
    from unloop import _settings

    env = {
        "UNLOOP_ENDPOINT": "http://example.com/base/",
        "UNLOOP_TOKEN": "t",
        "UNLOOP_PROJECT": "lab",
        "UNLOOP_CAPTURE_INPUTS": "false",
        "UNLOOP_QUEUE_EVENTS": "7",
        "UNLOOP_EXIT_TIMEOUT": "0.5",
        "UNLOOP_BUFFER_BYTES": "many",
        "UNLOOP_DISABLED": "1",
        "UNLOOP_BUFFER": "off",
    }
    s = _settings.from_environment(env)
    assert (s.endpoint, s.token, s.project, s.enabled) == ("http://example.com/base", "t", "lab", False)
    assert (s.capture_inputs, s.capture_outputs, s.queue_events, s.exit_timeout) == (False, True, 7, 0.5)
    assert (s.buffer_bytes, s.buffer_folder) == (256 << 20, None)
    assert len(logged()) == 1
    assert "UNLOOP_BUFFER_BYTES" in logged()[0]
    wrong = {"UNLOOP_CAPTURE_INPUTS": "flase", "UNLOOP_EXIT_TIMEOUT": "inf", "UNLOOP_CAPTURE_OUTPUTS": "on"}
    assert _settings.from_environment(wrong) == _settings.Settings()
    assert ["UNLOOP_CAPTURE_INPUTS" in logged()[1], "UNLOOP_EXIT_TIMEOUT" in logged()[2]] == [True, True]
    assert _settings.from_environment({"UNLOOP_TOKEN": "a\nb"}).token == ""
    assert "t" not in repr(s).replace("token", "").split("project")[0][-3:]
    logging.getLogger("unloop").setLevel(logging.NOTSET)
