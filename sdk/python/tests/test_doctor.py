"""python -m unloop doctor, as somebody in need of it sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Server, free_port


def doctor(*args: str, **env: str) -> tuple[int, dict[str, str]]:
    """Returns its status, and its lines by what they are about."""
    done = subprocess.run(
        [sys.executable, "-m", "unloop", *(args or ["doctor"])],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src"), **env},
        capture_output=True,
        text=True,
        timeout=180,
    )
    lines = {}
    for line in done.stdout.splitlines():
        mark, name, found = line.split(maxsplit=2)
        lines[name] = f"{mark} {found}"
    return done.returncode, lines


def test_all_is_well(server: Server, guard_bin: str) -> None:
    status, lines = doctor(UNLOOP_ENDPOINT=server.url)
    assert status == 0
    assert lines["server"].startswith(f"ok {server.url} is healthy")
    assert lines["event"].startswith("ok accepted in ")
    assert lines["token"].startswith("ok no token needed")
    assert lines["buffer"].startswith("ok")
    assert lines["guard"].startswith(f"ok {guard_bin}, unloop version ")
    assert lines["adapters"].split()[0] in ("ok", "note")
    assert server.runs() == [], "what it sent to see is gone again"


def test_no_server_and_no_program(tmp_path: Path) -> None:
    status, lines = doctor(UNLOOP_ENDPOINT=f"http://127.0.0.1:{free_port()}", PATH=str(tmp_path))
    assert status == 1
    assert lines["server"].startswith("FAIL no server at")
    assert "unloop serve" in lines["server"]
    assert lines["guard"].startswith("note program unloop not found")


def test_what_waits_and_what_is_broken(server: Server, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    status, lines = doctor(UNLOOP_ENDPOINT=server.url, UNLOOP_BUFFER=str(tmp_path / "file"), UNLOOP_BIN="/nowhere")
    assert status == 1
    assert lines["buffer"].startswith("FAIL")
    assert lines["guard"] == "FAIL UNLOOP_BIN is /nowhere, which is not an executable program"
    assert doctor(UNLOOP_ENDPOINT=server.url, UNLOOP_BUFFER="off")[1]["buffer"].startswith("note off")


@pytest.mark.parametrize(
    ("scope", "status", "found"),
    [
        ("ingest", 0, "ok the token may send, but not delete: the run unloop-doctor-"),
        ("admin", 0, "ok the token may send and read"),
        ("read", 1, "FAIL event rejected: "),
        ("none", 1, "FAIL event rejected: "),
    ],
)
def test_a_tokens_scope_is_seen(make_server: Callable[..., Server], unloop_bin: str, scope: str, status: int, found: str) -> None:
    command = [unloop_bin, "config", "token", "--name", "t", "--scope", scope if scope != "none" else "admin"]
    made = subprocess.run(command, capture_output=True, text=True, check=True)
    (secret,) = [word for word in made.stderr.split() if word.startswith("unloop_")]
    server = make_server(config=made.stdout).start()
    got, lines = doctor(UNLOOP_ENDPOINT=server.url, UNLOOP_TOKEN=secret if scope != "none" else "")
    assert (got, lines["token"][: len(found)]) == (status, found)


def test_another_program_on_the_port_is_none_of_ours() -> None:
    import http.server
    import threading

    with http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler) as other:
        thread = threading.Thread(target=other.serve_forever, args=(0.01,))
        thread.start()
        try:
            status, lines = doctor(UNLOOP_ENDPOINT=f"http://127.0.0.1:{other.server_address[1]}")
        finally:
            other.shutdown()
            thread.join()
    assert status == 1
    assert "is not an unloop server" in lines["server"]


def test_wrong_usage_is_told() -> None:
    assert doctor("nonsense")[0] == 2


def test_help_is_no_mistake() -> None:
    for words, status in ((["--help"], 0), (["-h"], 0), (["help"], 0), ([], 2), (["nonsense"], 2)):
        done = subprocess.run(
            [sys.executable, "-m", "unloop", *words],
            env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src")},
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == status
        assert (done.stdout if status == 0 else done.stderr).startswith("usage: python -m unloop doctor")
