"""A guard at odd moments, among odd answers, around odd tools."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

import unloop
from conftest import Scripted, Server, child_process, ctrl_c, loop, suspend, until

pytestmark = pytest.mark.usefixtures("guard_bin")


def test_after_a_ctrl_c_no_answer_is_taken_for_another() -> None:
    guard = unloop.Guard(timeout=20)
    loop(guard, 8)
    first = child_process()
    suspend(first)
    with pytest.raises(KeyboardInterrupt), ctrl_c(1):
        guard.state()
    if first.poll() is None:
        os.kill(first.pid, signal.SIGCONT)
    assert guard.before("search", {"q": "loops"}, id="next").guarded
    assert guard.state()["calls"] >= 3, "it goes on where the last snapshot was taken"
    assert first.poll() is not None


def test_a_ctrl_c_while_the_guard_starts(tmp_path: Any, guard_bin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = tmp_path / "slow"
    slow.write_text(
        f'#!/bin/sh\n[ -e {tmp_path}/again ] || {{ touch {tmp_path}/again; exec sleep 60; }}\nexec {guard_bin} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("UNLOOP_BIN", str(slow))

    def press() -> None:
        until((tmp_path / "again").exists)  # the first program is starting
        os.kill(os.getpid(), signal.SIGALRM)

    threading.Thread(target=press).start()
    with pytest.raises(KeyboardInterrupt), ctrl_c(60):
        unloop.Guard(timeout=60)
    assert unloop.Guard().user("x").guarded


@pytest.mark.parametrize("given_up", [0, 2])
def test_a_task_that_is_cancelled_in_the_middle_of_a_question_spoils_no_other(given_up: int) -> None:
    async def main() -> list[str]:
        guard = unloop.AsyncGuard()
        asking = [asyncio.ensure_future(guard.run(str(i)).user("x")) for i in range(50)]
        for _ in range(given_up):
            await asyncio.sleep(0)
        for one in asking[::2]:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        assert all(one.result().guarded for one in asking[1::2])
        return [(await guard.after("search", {"q": "x"}, "nothing")).action for _ in range(3)]

    assert asyncio.run(main()) == ["allow", "allow", "warn"]


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "no such page"},
        {"error": ["no"]},
        {"action": "dance", "result": "x"},
        {"action": ["halt"]},
        {"action": None},
        {},
    ],
)
def test_what_is_no_guard_decides_nothing(scripted: type[Scripted], answer: dict[str, Any]) -> None:
    scripted.answers += [(200, {}, answer)] * 10
    guard = unloop.Guard(endpoint=unloop._core.settings().endpoint, on_missing="warn")
    search = guard.tool(lambda q: {"hits": []}, name="search")
    assert search("loops") == {"hits": []}
    assert not guard.before("search").guarded
    assert guard.state() == {}
    assert not guard.reset()


def in_plain_dress(fn: Callable[..., Any]) -> Callable[..., Any]:
    """What a decorator makes of an async function, if it does not care."""
    return functools.wraps(fn)(lambda *args, **kwargs: fn(*args, **kwargs))


def test_an_async_tool_in_the_dress_of_a_plain_one_is_guarded_and_observed(server: Server) -> None:
    guard = unloop.Guard()

    @guard.tool
    @unloop.observe
    @in_plain_dress
    async def search(query: str) -> str:
        await asyncio.sleep(0)
        assert unloop.current_run() is not None
        if query == "fail":
            raise OSError("no such archive")
        return f"nothing about {query}"

    async def main() -> list[str]:
        with unloop.trace("t", id="t"):
            honest = [await search(f"{i}") for i in range(8)]
            with pytest.raises(OSError, match="no such archive"):
                await search("fail")
            again = [await search("loops") for _ in range(3)]
        return [*honest, *again]

    answers = asyncio.run(main())
    assert answers[:8] == [f"nothing about {i}" for i in range(8)]
    assert answers[-1].startswith("nothing about loops [loop-guard] ")
    assert unloop.flush()
    ended = [
        e.get("output") or e["error"] for e in server.events("t") if e["type"] in ("tool_call_completed", "tool_call_failed")
    ]
    assert ended == [*answers[:8], "OSError: no such archive", *["nothing about loops"] * 3]


class Unreadable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    code: int


@pytest.mark.parametrize("error", [Unreadable(), Frozen(3)], ids=["without a text", "that cannot be changed"])
def test_a_nudge_does_not_replace_the_error_of_a_tool(error: Exception) -> None:
    guard = unloop.Guard()

    def fails() -> None:
        raise error

    tool = guard.tool(fails)
    for _ in range(6):
        with pytest.raises(type(error)) as raised:
            tool()
        assert raised.value is error
    assert guard.stats()["actions"].get("warn")


def test_a_text_or_an_id_that_cannot_be_read_raises_nothing() -> None:
    guard, unreadable = unloop.Guard(), Unreadable()
    assert guard.text(unreadable).guarded  # type: ignore[arg-type]
    assert guard.before("search", id=unreadable).guarded  # type: ignore[arg-type]


def test_a_run_whose_name_has_half_a_character_stays_guarded() -> None:
    guard = unloop.Guard(run="report-\udce9.txt")  # a file name that is not UTF-8
    assert all(decision.guarded for decision in loop(guard, 12))


def test_a_child_that_is_forked_in_a_pause_does_not_wait_for_ever() -> None:
    guard = unloop.Guard()
    guard._run_state.running.clear()
    child = multiprocessing.get_context("fork").Process(target=guard.before, args=("search",))
    child.start()
    child.join(30)
    alive = child.is_alive()
    child.kill()
    assert not alive
