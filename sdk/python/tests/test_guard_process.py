"""The child process or the server of a guard: shared, missing, hanging, exited and forked."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import unloop
from conftest import ROOT, Server, child_process, loop, suspend, until
from unloop.guard import _subprocess

pytestmark = pytest.mark.usefixtures("guard_bin")


def test_a_child_that_exits_is_replaced_and_its_runs_continue(logged: Callable[[], list[str]]) -> None:
    guard = unloop.Guard()
    actions = [d.action for d in loop(guard, 5)]
    assert "warn" in actions
    first = child_process()
    first.kill()
    first.wait()
    assert not guard.before("search", {"q": "loops"}).guarded
    assert [line for line in logged() if "unguarded" in line] == ["the agent runs unguarded: the guard exited"]
    until(lambda: guard.user().guarded)
    assert child_process().pid != first.pid
    assert guard.state()["calls"] >= 3, "it goes on where the last snapshot was taken"
    until(lambda: [line for line in logged() if "guarded again" in line] != [])


def test_a_child_that_hangs_delays_the_agent_by_at_most_the_timeout() -> None:
    loop(unloop.Guard(), 5)
    guard = unloop.Guard(timeout=2)  # of the same child, which has started
    first = child_process()
    suspend(first)
    began = time.monotonic()
    threads = [threading.Thread(target=guard.run(str(i)).before, args=("t", "x" * 500_000)) for i in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert time.monotonic() - began < 16, "ten times the limit is 20"
    until(lambda: guard.user().guarded)
    assert first.poll() is not None, "it is ended, not left behind"
    assert child_process().pid != first.pid


def test_an_event_loop_runs_while_a_child_hangs() -> None:
    async def main() -> int:
        guard = unloop.AsyncGuard(timeout=2)
        await guard.user("x")
        suspend(child_process())
        asking = asyncio.ensure_future(guard.user("y"))
        turns = 0
        while not asking.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert not asking.result().guarded
        return turns

    assert asyncio.run(main()) > 5


@pytest.mark.parametrize(
    ("env", "profile", "why"),
    [
        ({"UNLOOP_BIN": "/nowhere/unloop"}, "default", "UNLOOP_BIN is /nowhere/unloop, which is not an executable program"),
        (
            {"UNLOOP_BIN": "", "PATH": "", "UNLOOP_ENDPOINT": "http://127.0.0.1:1"},
            "default",
            "cannot reach the server at http://127.0.0.1:1",
        ),
        ({"UNLOOP_BIN": "/bin/true"}, "default", "the guard exited"),
        ({}, "nonsense", "nonsense"),
    ],
)
def test_a_missing_guard_is_an_error_unless_on_missing_is_warn(
    env: dict[str, str], profile: str, why: str, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], list[str]]
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    guard = unloop.Guard(profile, on_missing="warn")
    search = guard.tool(lambda q: {"hits": []}, name="search")
    assert [search("x") for _ in range(20)] == [{"hits": []}] * 20
    assert not guard.before("search").guarded
    assert (guard.state(), guard.stats(), guard.snapshot(), guard.reset()) == ({}, {}, {}, False)
    assert len([line for line in logged() if "unguarded" in line]) == 1
    assert why in logged()[0]
    with pytest.raises(unloop.GuardUnavailable, match=why.replace("[", ".")):
        unloop.Guard(profile)


def test_without_the_program_the_server_of_the_settings_decides(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNLOOP_BIN", "")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("UNLOOP_ENDPOINT", server.url)
    assert "warn" in [d.action for d in loop(unloop.Guard(), 5)]


def test_a_script_on_the_path_is_not_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "unloop"
    script.write_text("#!/bin/sh\nexec unloop\n")
    script.chmod(0o755)
    monkeypatch.setenv("UNLOOP_BIN", "")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("UNLOOP_ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(unloop.GuardUnavailable, match="on_missing"):
        unloop.Guard()


def test_on_missing_is_refuse_or_warn() -> None:
    with pytest.raises(ValueError, match=r"want .refuse. or .warn."):
        unloop.Guard(on_missing="ignore")  # type: ignore[arg-type]


def test_an_unreachable_server_is_not_asked_during_the_backoff(server: Server, logged: Callable[[], list[str]]) -> None:
    guard = unloop.Guard(endpoint=server.url)
    loop(guard, 5)
    server.stop()
    began = time.monotonic()
    decisions = loop(guard, 50)
    assert time.monotonic() - began < 10
    assert not any(d.guarded for d in decisions)
    assert len([line for line in logged() if "unguarded" in line]) == 1
    server.start()
    until(lambda: guard.user().guarded)
    assert guard.state()["calls"] >= 3, "the server's memory is gone, the run is not"


def test_a_server_that_hangs_costs_one_timeout_and_not_one_for_each_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        guard = unloop.Guard(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=1, on_missing="warn")
        began = time.monotonic()
        assert not any(decision.guarded for decision in loop(guard, 10))
        assert time.monotonic() - began < 10, "each of the twenty questions would take 1"


def test_twenty_threads_ask_one_child() -> None:
    guard = unloop.Guard()
    wrong: list[object] = []

    def work(n: int) -> None:
        mine = guard.run(f"run {n}")
        for i in range(100):
            for decision in (mine.before("read", {"p": i}, id=str(i)), mine.after("read", {"p": i}, f"{n} {i}", id=str(i))):
                if decision.action != "allow" or not decision.guarded:
                    wrong.append(decision)
        if mine.state()["calls"] != 100:
            wrong.append(mine.state())

    threads = [threading.Thread(target=work, args=(n,)) for n in range(20)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_tasks_ask_one_child() -> None:
    async def work(guard: unloop.AsyncGuard, n: int) -> int:
        mine = guard.run(f"run {n}")
        for i in range(20):
            assert (await mine.before("read", {"p": i}, id=str(i))).guarded
            assert (await mine.after("read", {"p": i}, f"{n} {i}", id=str(i))).guarded
        return int((await mine.state())["calls"])

    async def main() -> list[int]:
        guard = unloop.AsyncGuard()
        return await asyncio.gather(*(work(guard, n) for n in range(20)))

    assert asyncio.run(main()) == [20] * 20


def test_a_disabled_package_starts_no_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNLOOP_DISABLED", "1")
    guard = unloop.Guard()
    assert not loop(guard, 3)[-1].guarded
    assert guard.tool(lambda: 7, name="t")() == 7
    assert all(child._process is None for child in _subprocess._processes.values())


FORKED = """
import os, sys, unloop
def loop(guard, times):
    actions = []
    for i in range(times):
        guard.before('search', {'q': 'x'}, id=str(i))
        actions.append(guard.after('search', {'q': 'x'}, {'hits': []}, id=str(i)).action)
    return actions
guard = unloop.Guard()
assert loop(guard, 2) == ['allow', 'allow']
from unloop.guard import _subprocess
process = next(iter(_subprocess._processes.values()))._process
pipes = [os.fstat(f.fileno()).st_ino for f in (process.stdin, process.stdout)]
pid = os.fork()
if pid == 0:
    left = [os.stat('/proc/self/fd/' + fd).st_ino for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd)]
    assert not set(pipes) & set(left), 'the parent is to see the end of its pipes'
    other = guard.run('other')
    ok = loop(other, 3) == ['allow', 'allow', 'warn'] and other.user().guarded
    sys.stdout.flush()
    os._exit(0 if ok else 1)
assert os.waitpid(pid, 0)[1] == 0
assert loop(guard, 1) == ['warn'], 'the parent has its own child still'
print('fine')
"""


def test_a_forked_process_has_its_own_child() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src")},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_the_child_ends_with_its_parent(tmp_path: Path) -> None:
    body = "import unloop, os\nfrom unloop.guard import _subprocess\nunloop.Guard().user()\n"
    body += "print(next(iter(_subprocess._processes.values()))._process.pid, flush=True)\nos.kill(os.getpid(), 9)"
    done = subprocess.run(
        [sys.executable, "-c", body],
        env={**os.environ, "PYTHONPATH": str(ROOT / "sdk/python/src")},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == -9
    state = Path(f"/proc/{done.stdout.strip()}/status")
    until(lambda: not state.exists() or "zombie" in state.read_text())
