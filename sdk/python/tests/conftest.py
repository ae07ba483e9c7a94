"""What the tests share: the program unloop, built once from this tree, servers of it, and a package that knows only its test."""

from __future__ import annotations

import contextlib
import http.server
import json
import logging
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import unloop
from unloop import _core, _log
from unloop.guard import _subprocess

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def unloop_bin(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the program, built from this tree."""
    path = tmp_path_factory.mktemp("bin") / "unloop"
    built = subprocess.run(
        ["go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", str(path), "./cmd/unloop"],
        cwd=ROOT,
        env={**os.environ, "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stderr
    return str(path)


@pytest.fixture
def guard_bin(unloop_bin: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The program, where a Guard finds it."""
    monkeypatch.setenv("UNLOOP_BIN", unloop_bin)
    return unloop_bin


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins with a package that was told nothing, and buffers in a folder of its own."""
    for name in list(os.environ):
        if name.startswith("UNLOOP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("UNLOOP_BUFFER", str(tmp_path / "buffer"))
    monkeypatch.setenv("NO_PROXY", "*")
    # On a busy machine an answer may take longer than an agent should wait for it.
    monkeypatch.setenv("UNLOOP_EXIT_TIMEOUT", "60")
    monkeypatch.setattr(unloop.flush, "__defaults__", (60.0,))
    monkeypatch.setattr(
        unloop.Guard.__init__, "__kwdefaults__", {**(unloop.Guard.__init__.__kwdefaults__ or {}), "timeout": 30.0}
    )
    forget()
    yield
    forget()


def forget() -> None:
    """Has the package be as at its import."""
    if _core._sender is not None:
        _core._sender.close(0)
    _core._sender = _core._settings_now = None
    for child in _subprocess._processes.values():
        if (starting := child._starting) is not None:
            starting.join()
        child.close()
    _subprocess._processes.clear()
    _log._logged.clear()


class Server:
    """A real server on a free port of the loopback, with a database of its own."""

    def __init__(self, program: str, folder: Path, *flags: str, config: str = "") -> None:
        self.program = program
        self.folder = folder
        self.flags = flags
        # A bound socket that does not listen keeps the port from other programs, and lets the server have it.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.port = self.reserved.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = ""
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.config = folder / "unloop.yaml"
        self.config.write_text(config)

    def start(self) -> Server:
        command = [self.program, "serve", "--addr", f"127.0.0.1:{self.port}", "--grpc-addr", "off"]
        command += ["--db", str(self.folder / "unloop.db"), "--config", str(self.config), *self.flags]
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        until(lambda: self.get("/api/health") is not None, 60, self.log)
        return self

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def stop(self, how: int = signal.SIGTERM) -> None:
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait(60)
            self.process = None

    def get(self, path: str) -> Any:
        """What the server answers; None if it does not, or with an error."""
        return self.page(path)[0]

    def page(self, path: str) -> tuple[Any, str]:
        """The same, with the cursor of the next page."""
        request = urllib.request.Request(self.url + path)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer), answer.headers.get("X-Next-Cursor") or ""
        except OSError:
            return None, ""

    def runs(self) -> list[dict[str, Any]]:
        runs: list[dict[str, Any]] = self.get("/api/runs?limit=500")
        return runs

    def run(self, id: str) -> dict[str, Any]:
        run: dict[str, Any] = self.get("/api/runs/" + urllib.parse.quote(id, safe=""))
        return run

    def events(self, id: str) -> list[dict[str, Any]]:
        """All events of a run, in its order."""
        path = "/api/runs/" + urllib.parse.quote(id, safe="") + "/events?cursor="
        events, cursor = self.page(path)
        while cursor:
            more, cursor = self.page(path + urllib.parse.quote(cursor))
            events += more
        return events or []

    def warnings(self, id: str) -> list[dict[str, Any]]:
        warnings: list[dict[str, Any]] = self.get("/api/runs/" + urllib.parse.quote(id, safe="") + "/warnings")
        return warnings


@pytest.fixture
def make_server(unloop_bin: str, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Makes servers, not yet started; they end with the test."""
    made: list[Server] = []

    def make(*flags: str, config: str = "") -> Server:
        made.append(Server(unloop_bin, tmp_path / f"server-{len(made)}", *flags, config=config))
        return made[-1]

    yield make
    _core.shutdown(0)
    for server in made:
        server.stop(signal.SIGKILL)
        server.reserved.close()
        shutil.rmtree(server.folder)


@pytest.fixture
def server(make_server: Callable[..., Server]) -> Server:
    """A server that runs, and to which the package sends."""
    server = make_server().start()
    unloop.configure(endpoint=server.url)
    return server


class Scripted(http.server.BaseHTTPRequestHandler):
    """A server with scripted answers, such as failures."""

    protocol_version = "HTTP/1.1"
    answers: list[tuple[int, dict[str, str], dict[str, Any]]]
    bodies: list[bytes]
    goes: threading.Event  # while it is not set, nothing is answered

    def do_POST(self) -> None:
        type(self).bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.goes.wait(30)
        status, headers, body = self.answers.pop(0) if self.answers else (201, {}, {"accepted": 1, "rejected": 0, "errors": []})
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # nobody waits for it any more
            self.wfile.write(data)
        self.close_connection = self.close_connection or "X-Hang-Up" in headers

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def scripted() -> Iterator[type[Scripted]]:
    handler: Any = type("Handler", (Scripted,), {"answers": [], "bodies": [], "goes": threading.Event()})
    handler.goes.set()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    unloop.configure(endpoint=f"http://127.0.0.1:{server.server_address[1]}")
    yield handler
    handler.goes.set()
    _core.shutdown(0.5)
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """Returns the lines that the package has logged."""
    caplog.set_level(logging.INFO, "unloop")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "unloop"]


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def until(true: Callable[[], bool], seconds: float = 60, why: Callable[[], str] = lambda: "") -> None:
    """Waits for something that another process or thread does."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise AssertionError("it did not come about: " + why())
        time.sleep(0.01)  # between two looks


@contextlib.contextmanager
def ctrl_c(seconds: float) -> Iterator[None]:
    """Somebody presses Ctrl-C so many seconds from now."""

    def press(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, press)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def fields_of(server: Server, id: str, *fields: str) -> list[tuple[Any, ...]]:
    """Sends all events, and returns these fields of the events of a run."""
    assert unloop.flush()
    return [tuple(event[field] for field in fields) for event in server.events(id)]


def child_process() -> subprocess.Popen[bytes]:
    """Returns the only child process of the guards."""
    (child,) = _subprocess._processes.values()
    assert child._process is not None
    return child._process


def suspend(process: subprocess.Popen[bytes]) -> None:
    """Suspends a process, so that it does not respond."""
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: "\nState:\tT" in Path(f"/proc/{process.pid}/status").read_text())


def loop(guard: unloop.Guard, times: int = 4) -> list[unloop.Decision]:
    """Repeats a call with the same result, and returns the decisions."""
    decisions = []
    for i in range(times):
        decisions.append(guard.before("search", {"q": "loops"}, id=str(i)))
        decisions.append(guard.after("search", {"q": "loops"}, {"hits": []}, id=str(i)))
    return decisions
