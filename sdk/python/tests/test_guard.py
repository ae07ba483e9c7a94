"""A guard around tools, with the real program behind it; and an agent that goes on when there is none."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unloop
from conftest import ROOT, Server, until
from unloop.guard import _subprocess

pytestmark = pytest.mark.usefixtures("guard_bin")


def process() -> subprocess.Popen[bytes]:
    """The one child that runs."""
    (child,) = _subprocess._processes.values()
    assert child._process is not None
    return child._process


def stop(process: subprocess.Popen[bytes]) -> None:
    """Has a process hang."""
    os.kill(process.pid, signal.SIGSTOP)
    until(lambda: "\nState:\tT" in Path(f"/proc/{process.pid}/status").read_text())


def loop(guard: unloop.Guard, times: int = 4) -> list[unloop.Decision]:
    """The same call with the same result, again and again."""
    decisions = []
    for i in range(times):
        decisions.append(guard.before("search", {"q": "loops"}, id=str(i)))
        decisions.append(guard.after("search", {"q": "loops"}, {"hits": []}, id=str(i)))
    return decisions


@pytest.fixture(params=["child", "endpoint"])
def place(request: pytest.FixtureRequest) -> dict[str, str]:
    """Where the guard is: a child process, or a server."""
    if request.param == "child":
        return {}
    server: Server = request.getfixturevalue("server")
    return {"endpoint": server.url}


def test_an_agent_is_nudged_blocked_and_halted(place: dict[str, str]) -> None:
    ran = 0
    with unloop.Guard(**place) as guard:  # type: ignore[arg-type]

        @guard.tool
        def search(query: str) -> dict[str, list[str]]:
            nonlocal ran
            ran += 1
            return {"hits": []}

        answers = [search("loops") for _ in range(9)]
        with pytest.raises(unloop.LoopError, match="Halted") as halted:
            search("loops")
    assert ran == 7
    assert answers[0] == {"hits": []}
    assert answers[2]["_loop_guard"]["action"] == "warn"
    assert answers[2]["hits"] == []
    assert answers[8]["loop_blocked"] is True
    assert halted.value.decision.action == "halt"


def test_an_honest_agent_is_left_alone(place: dict[str, str]) -> None:
    guard = unloop.Guard(**place)  # type: ignore[arg-type]
    read = guard.tool(lambda path: f"text of {path}", name="read")
    assert [read(f"file {i}") for i in range(50)] == [f"text of file {i}" for i in range(50)]
    assert guard.stats()["decisions"] == 100


def test_async_tools_are_guarded(place: dict[str, str]) -> None:
    async def main() -> None:
        async with unloop.AsyncGuard(**place) as guard:

            @guard.tool
            async def search(query: str) -> str:
                await asyncio.sleep(0)
                return "nothing"

            for i in range(30):
                answer = await search("loops")
                if i == 2:
                    assert answer.startswith("nothing [loop-guard] You may")
            raise AssertionError("it was not halted")

    with pytest.raises(unloop.LoopError):
        asyncio.run(main())


def test_every_operation(place: dict[str, str]) -> None:
    guard = unloop.Guard(**place)  # type: ignore[arg-type]
    assert guard.user("find the page").action == "allow"
    assert guard.text("I look for it").guarded
    assert guard.progress("found one").ok
    assert loop(guard)[-3].action == "warn"
    assert guard.allow("go on").ok
    assert guard.state()["calls"] == 4
    snapshot = guard.snapshot()
    assert guard.reset()
    assert guard.state()["calls"] == 0
    assert guard.restore(snapshot)
    assert guard.state()["calls"] == 4
    assert not guard.restore({"profile": "default", "state": "broken"})

    async def same() -> None:
        other = unloop.AsyncGuard(**place).run("other")
        assert (await other.user("x")).ok
        assert (await other.text("x")).ok
        assert (await other.progress("x")).ok
        assert (await other.before("t", {"a": 1}, id="1")).ok
        assert (await other.after("t", {"a": 1}, "x", id="1")).ok
        assert (await other.allow("x")).ok
        assert await other.restore(await other.snapshot())
        assert (await other.state())["calls"] == 1
        assert (await other.stats())["decisions"] > 0
        assert await other.reset()
        await other.close()

    asyncio.run(same())


def test_runs_share_a_process_and_nothing_else() -> None:
    a, b = unloop.Guard(), unloop.Guard()
    assert [d.action for d in loop(a, 3)][-1] == "warn"
    assert all(d.action == "allow" for d in loop(b, 2))
    assert [d.action for d in loop(a.run("c"), 3)][-1] == "warn"
    assert a.run("c").state()["calls"] == 3
    assert len(_subprocess._processes) == 1
    unloop.Guard("agentium").user("x")
    assert len(_subprocess._processes) == 2


def test_settings_reach_the_profile() -> None:
    guard = unloop.Guard(settings={"shadow": True})
    decisions = loop(guard, 5)
    assert all(d.action == "allow" for d in decisions)
    assert decisions[5].shadow == "warn"


def test_an_error_of_a_tool_is_the_agents_with_a_nudge() -> None:
    guard = unloop.Guard()

    @guard.tool
    def run(command: str) -> None:
        raise OSError("no such command")

    said = []
    for _ in range(6):
        with pytest.raises(OSError, match="no such command") as failed:
            run("mak")
        said.append(str(failed.value))
    nudged = [text for text in said if text != "no such command"]
    assert said[0] == "no such command"
    assert nudged[0].startswith("no such command [loop-guard] ")
    assert len(nudged[0].split("[loop-guard]")) == 2


class Page:
    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Page({self.text!r})"


@pytest.mark.parametrize(
    ("result", "kept"),
    [
        (Page("x"), lambda told, result: told["result"] is result and told["_loop_guard"].startswith("[loop-guard]")),
        ({1: "x"}, lambda told, result: told[1] == "x" and told["_loop_guard"]["action"] == "warn"),
        ("long " * 500_000, lambda told, result: told.startswith(result + " [loop-guard] You may be going")),
        (["x"] * 100_000, lambda told, result: told["result"] is result and told["_loop_guard"]["action"] == "warn"),
        (None, lambda told, result: told["result"] is None and told["_loop_guard"]["action"] == "warn"),
    ],
    ids=["object", "numbers as keys", "long text", "long list", "None"],
)
def test_a_nudge_takes_nothing_from_a_result(result: object, kept: Callable[[Any, Any], bool]) -> None:
    fetch = unloop.Guard().tool(lambda: result, name="fetch")
    answers = [fetch() for _ in range(3)]
    assert answers[0] is result
    assert kept(answers[2], result)


def test_a_child_that_dies_is_replaced_and_its_runs_go_on(said: Callable[[], list[str]]) -> None:
    guard = unloop.Guard()
    actions = [d.action for d in loop(guard, 5)]
    assert "warn" in actions
    first = process()
    first.kill()
    first.wait()
    assert not guard.before("search", {"q": "loops"}).guarded
    assert [line for line in said() if "unguarded" in line] == ["the agent runs unguarded: the guard exited"]
    until(lambda: guard.user().guarded)
    assert process().pid != first.pid
    assert guard.state()["calls"] >= 3, "it goes on where the last snapshot was taken"
    until(lambda: [line for line in said() if "guarded again" in line] != [])


def test_a_child_that_hangs_holds_the_agent_up_for_no_longer_than_told() -> None:
    guard = unloop.Guard(timeout=0.5)
    loop(guard, 5)
    first = process()
    stop(first)
    began = time.monotonic()
    threads = [threading.Thread(target=guard.run(str(i)).before, args=("t", "x" * 500_000)) for i in range(10)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert time.monotonic() - began < 4, "ten times the limit is 5"
    until(lambda: guard.user().guarded)
    assert first.poll() is not None, "it is ended, not left behind"
    assert process().pid != first.pid


def test_an_event_loop_goes_on_while_a_child_hangs() -> None:
    async def main() -> int:
        guard = unloop.AsyncGuard(timeout=1)
        await guard.user("x")
        stop(process())
        asking = asyncio.ensure_future(guard.user("y"))
        turns = 0
        while not asking.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert not asking.result().guarded
        return turns

    assert asyncio.run(main()) > 20


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
def test_without_a_guard_it_refuses_and_only_where_it_is_told_to_the_agent_goes_on(
    env: dict[str, str], profile: str, why: str, monkeypatch: pytest.MonkeyPatch, said: Callable[[], list[str]]
) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    guard = unloop.Guard(profile, on_missing="warn")
    search = guard.tool(lambda q: {"hits": []}, name="search")
    assert [search("x") for _ in range(20)] == [{"hits": []}] * 20
    assert not guard.before("search").guarded
    assert (guard.state(), guard.stats(), guard.snapshot(), guard.reset()) == ({}, {}, {}, False)
    assert len([line for line in said() if "unguarded" in line]) == 1
    assert why in said()[0]
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


def test_only_refuse_and_warn_are_answers_to_a_missing_guard() -> None:
    with pytest.raises(ValueError, match=r"want .refuse. or .warn."):
        unloop.Guard(on_missing="ignore")  # type: ignore[arg-type]


def test_a_server_that_is_away_is_left_alone_for_a_while(server: Server, said: Callable[[], list[str]]) -> None:
    guard = unloop.Guard(endpoint=server.url)
    loop(guard, 5)
    server.stop()
    began = time.monotonic()
    decisions = loop(guard, 50)
    assert time.monotonic() - began < 10
    assert not any(d.guarded for d in decisions)
    assert len([line for line in said() if "unguarded" in line]) == 1
    server.start()
    until(lambda: guard.user().guarded)
    assert guard.state()["calls"] >= 3, "the server's memory is gone, the run is not"


def test_a_server_that_hangs_costs_one_timeout_and_not_one_each_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        guard = unloop.Guard(endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.3, on_missing="warn")
        began = time.monotonic()
        assert not any(decision.guarded for decision in loop(guard, 10))
        assert time.monotonic() - began < 3, "each call would take 0.3"


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


def test_nothing_is_asked_when_disabled(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_fork_has_a_child_of_its_own() -> None:
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


def test_a_decision_can_be_raised_and_written() -> None:
    decision = unloop.Decision(action="halt", code="halted", message="Halted: x")
    assert (decision.ok, decision.stopped, decision.halted, decision.guarded) == (False, True, True, True)
    with pytest.raises(unloop.LoopError, match="Halted: x"):
        decision.check()
    assert unloop.Decision().check().ok
    json.dumps(decision.findings)


def test_a_generator_is_no_tool() -> None:
    def lines() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        unloop.Guard().tool(lines)
