"""A guard around tools, in a child process of the real program or in a real server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import unloop
from conftest import Server, loop
from unloop.guard import _subprocess

pytestmark = pytest.mark.usefixtures("guard_bin")


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


def test_an_agent_that_does_not_loop_is_not_disturbed(place: dict[str, str]) -> None:
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


def test_an_async_tool_that_is_cancelled_has_an_end(place: dict[str, str]) -> None:
    async def main() -> dict[str, Any]:
        async with unloop.AsyncGuard(**place) as guard:
            started = asyncio.Event()

            @guard.tool
            async def search(query: str) -> None:
                started.set()
                await asyncio.Event().wait()

            running = asyncio.ensure_future(search("loops"))
            await started.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            return await guard.stats()

    assert asyncio.run(main())["decisions"] == 2


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


def test_runs_share_a_process_and_no_state() -> None:
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


def test_the_error_of_a_tool_is_raised_with_the_nudge() -> None:
    guard = unloop.Guard()

    @guard.tool
    def run(command: str) -> None:
        raise OSError("no such command")

    errors = []
    for _ in range(6):
        with pytest.raises(OSError, match="no such command") as failed:
            run("mak")
        errors.append(str(failed.value))
    nudged = [text for text in errors if text != "no such command"]
    assert errors[0] == "no such command"
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
def test_a_nudge_keeps_the_whole_result(result: object, kept: Callable[[Any, Any], bool]) -> None:
    fetch = unloop.Guard().tool(lambda: result, name="fetch")
    answers = [fetch() for _ in range(3)]
    assert answers[0] is result
    assert kept(answers[2], result)


def test_a_decision_can_be_raised_and_serialized() -> None:
    decision = unloop.Decision(action="halt", code="halted", message="Halted: x")
    assert (decision.ok, decision.stopped, decision.halted, decision.guarded) == (False, True, True, True)
    with pytest.raises(unloop.LoopError, match="Halted: x"):
        decision.check()
    assert unloop.Decision().check().ok
    json.dumps(decision.findings)


def test_a_generator_cannot_be_a_tool() -> None:
    def lines() -> Any:
        yield 1

    with pytest.raises(TypeError, match="generator"):
        unloop.Guard().tool(lines)
