"""Checks the installation: the settings, the server, the token, the buffer, the guard's program and the adapters."""

from __future__ import annotations

import http.client
import importlib.util
import json
import os
import platform
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

from . import _core
from ._buffer import Buffer
from ._http import Server, json_object
from ._settings import Settings
from .guard import Guard, GuardUnavailable
from .guard._binary import ProgramMissing, find

TIMEOUT = 5.0

# Extras, and the module that each of them installs.
ADAPTERS = {
    "langchain": "langchain",
    "openai-agents": "agents",
    "crewai": "crewai",
    "pydantic-ai": "pydantic_ai",
    "google-adk": "google.adk",
    "strands": "strands",
    "claude-agent-sdk": "claude_agent_sdk",
    "smolagents": "smolagents",
    "llama-index": "llama_index.core",
    "agent-framework": "agent_framework",
    "openai": "openai",
    "anthropic": "anthropic",
}

Line = tuple[str, str, str]  # ok, note or FAIL; the subject; the finding


def main() -> int:
    """Prints one line per check. Returns 0, or 1 if a check failed."""
    failed = False
    for mark, name, found in checks():
        failed = failed or mark == "FAIL"
        print(f"{mark:<5} {name:<9} {found}")
    return 1 if failed else 0


def checks() -> Iterator[Line]:
    """Yields the results of all checks."""
    settings = _core.settings()
    yield "ok", "package", f"unloop {_version()} on Python {platform.python_version()}"
    if not settings.enabled:
        yield "note", "settings", "UNLOOP_DISABLED is set: nothing is observed or guarded"
    left_out = [name for name, on in (("inputs", settings.capture_inputs), ("outputs", settings.capture_outputs)) if not on]
    if left_out:
        yield "note", "settings", f"{' and '.join(left_out)} are sent as digests only"
    yield from _server(settings)
    yield _buffer(settings)
    yield from _guard()
    yield _adapters()


def _version() -> str:
    from . import __version__

    return __version__


def _server(settings: Settings) -> Iterator[Line]:
    server = Server(settings.endpoint, settings.token)
    try:
        status, body, _ = server.request("GET", "/api/health", None, TIMEOUT)
    except (OSError, http.client.HTTPException, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        yield "FAIL", "server", f"no server at {settings.endpoint}: {why}. Start one with unloop serve, or set UNLOOP_ENDPOINT"
        return
    answer = json_object(body)
    if answer.get("service") != "unloop":
        yield "FAIL", "server", f"{settings.endpoint} is not an unloop server; set UNLOOP_ENDPOINT"
        return
    mark = "ok" if status == 200 else "FAIL"
    yield mark, "server", f"{settings.endpoint} is {answer.get('status')}, version {answer.get('version')}"
    yield from _round_trip(server, settings)


def _round_trip(server: Server, settings: Settings) -> Iterator[Line]:
    """Sends a run of one event, reads it and deletes it, as far as the token allows."""
    id = "unloop-doctor-" + secrets.token_hex(4)
    run: dict[str, Any] = {"event_id": id, "run_id": id, "type": "run_completed", "name": "unloop doctor"}
    if settings.project:
        run["project"] = settings.project
    started_at = time.perf_counter()
    try:
        status, body, _ = server.request("POST", "/api/events", json.dumps([run]).encode(), TIMEOUT)
        elapsed_ms = (time.perf_counter() - started_at) * 1000
        if status // 100 != 2:
            yield (
                "FAIL",
                "token",
                f"event rejected: {json_object(body).get('detail') or status}. Set UNLOOP_TOKEN to a token with scope ingest",
            )
            return
        yield "ok", "event", f"accepted in {elapsed_ms:.1f} ms"
        read = server.request("GET", f"/api/runs/{id}", None, TIMEOUT)[0]
        deleted = server.request("DELETE", f"/api/runs/{id}", None, TIMEOUT)[0]
    except (OSError, http.client.HTTPException) as error:
        yield "FAIL", "event", f"not delivered: {type(error).__name__}"
        return
    if read not in (200, 401, 403):
        yield "FAIL", "event", f"accepted but not readable: the server returned {read}"
        return
    scope = "the token may send" if settings.token else "no token needed: everyone who reaches the server may send"
    rest = " and read" if read == 200 else ""
    stays = "" if deleted // 100 == 2 else f", but not delete: the run {id} remains on the server"
    yield "ok", "token", scope + rest + stays


def _buffer(settings: Settings) -> Line:
    folder = settings.buffer_folder
    if folder is None:
        return "note", "buffer", "off: without a server events stay in memory and are lost at exit"
    buffer = Buffer(folder, settings.endpoint, settings.buffer_bytes)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = os.access(folder, os.W_OK)
    except OSError:
        free = False
    if not free:
        return "FAIL", "buffer", f"{folder} is not writable: set UNLOOP_BUFFER to another folder"
    waiting = buffer.files()
    if not waiting:
        return "ok", "buffer", f"{folder} is empty"
    mine = sum(path.stat().st_size for path in waiting)
    if buffer.size() > settings.buffer_bytes * 0.9:
        return "FAIL", "buffer", f"{folder} is over 90 % full: when it is full, events are dropped until the server is available"
    return "note", "buffer", f"{mine:,} bytes in {folder}; the next program that reaches the server sends them"


def _guard() -> Iterator[Line]:
    try:
        program = find()
        if not _core.settings().enabled:
            yield "ok", "guard", program
            return
        version = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=TIMEOUT)
        guard = Guard()
    except (GuardUnavailable, OSError, subprocess.SubprocessError) as error:
        absent = isinstance(error, ProgramMissing)
        yield _guard_on_server(error) if absent else ("FAIL", "guard", str(error))
        return
    yield (
        "ok",
        "guard",
        f"{program}, {version.stdout.strip() or 'unknown version'}; a decision takes {_microseconds(guard.user):.0f} µs",
    )
    guard.close()


def _guard_on_server(missing: Exception) -> Line:
    """Reports whether the server can decide, since there is no program."""
    endpoint = _core.settings().endpoint
    try:
        Guard().close()
    except GuardUnavailable:
        return "note", "guard", f"{missing}; and the server at {endpoint} does not decide either. Observing works without it"
    return "ok", "guard", f"the server at {endpoint} decides, because the program is not installed"


def _microseconds(ask: Callable[[], object]) -> float:
    times = []
    for _ in range(20):
        started_at = time.perf_counter()
        ask()
        times.append(time.perf_counter() - started_at)
    return sorted(times)[10] * 1e6


def _adapters() -> Line:
    found = [extra for extra, module in ADAPTERS.items() if _installed(module)]
    missing = [extra for extra in ADAPTERS if extra not in found]
    if not found:
        return "note", "adapters", f"no supported framework is installed: {', '.join(missing)}"
    return "ok", "adapters", f"for {', '.join(found)}" + (f"; not installed: {', '.join(missing)}" if missing else "")


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
