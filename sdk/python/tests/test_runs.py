"""Runs and their events, as a real server records them."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import unloop
from conftest import Server, fields_of
from unloop._run import USAGE


def test_a_trace_is_a_run_with_its_events(server: Server) -> None:
    with unloop.trace("hello", id="r1", project="lab", metadata={"k": 1}) as run:
        assert unloop.current_run() is run
        event_id = unloop.event("message", text="hi", role="user", tokens=3, cost=0.5)
    assert unloop.current_run() is None
    assert fields_of(server, "r1", "type", "text", "tokens", "cost") == [
        ("run_started", None, None, None),
        ("message", "hi", 3, 0.5),
        ("run_completed", None, None, None),
    ]
    assert server.events("r1")[1]["event_id"] == event_id
    sequences = [event["sequence"] for event in server.events("r1")]
    assert 0 < sequences[0] < sequences[1] < sequences[2]
    row = server.run("r1")
    assert (row["name"], row["project"], row["status"], row["metadata"]) == ("hello", "lab", "completed", {"k": 1})


def test_an_error_fails_the_run_and_propagates(server: Server) -> None:
    with pytest.raises(ValueError, match="no"), unloop.trace("hello", id="r1"):
        raise ValueError("no")
    assert fields_of(server, "r1", "type", "error") == [("run_started", None), ("run_failed", "ValueError: no")]
    assert server.run("r1")["status"] == "failed"


def test_a_normal_exit_is_not_a_failure(server: Server) -> None:
    with pytest.raises(SystemExit), unloop.trace("hello", id="r1"):
        raise SystemExit(0)
    assert fields_of(server, "r1", "type")[-1] == ("run_completed",)


def test_a_trace_within_a_trace_is_a_separate_run(server: Server) -> None:
    with unloop.trace("outer", id="o"):
        with unloop.trace("inner", id="i"):
            unloop.event("message", text="in")
        unloop.event("message", text="out")
    assert fields_of(server, "i", "text") == [(None,), ("in",), (None,)]
    assert fields_of(server, "o", "text") == [(None,), ("out",), (None,)]
    assert server.run("i")["metadata"] == {"parent_run_id": "o"}


def test_a_trace_with_the_same_id_is_the_same_run(server: Server) -> None:
    with unloop.trace("outer", id="o") as outer:
        with unloop.trace("again", id="o") as inner:
            unloop.event("message", text="in")
        assert inner is outer
        unloop.event("message", text="out")
    assert fields_of(server, "o", "type", "text") == [
        ("run_started", None),
        ("message", "in"),
        ("message", "out"),
        ("run_completed", None),
    ]


def test_a_later_trace_with_the_same_id_continues_the_run(server: Server) -> None:
    for text in ("first", "second"):
        with unloop.trace("thread", id="t"):
            unloop.event("message", text=text)
    assert fields_of(server, "t", "text") == [(None,), ("first",), (None,), (None,), ("second",), (None,)]


def test_each_call_of_a_decorated_function_is_a_run(server: Server) -> None:
    @unloop.trace("job")
    def job(n: int) -> int:
        unloop.event("message", text=str(n))
        return n

    assert [job(1), job(2)] == [1, 2]
    assert unloop.flush()
    assert sorted(row["name"] for row in server.runs()) == ["job", "job"]


def test_an_unknown_field_is_logged_and_does_not_raise(server: Server, logged: Callable[[], list[str]]) -> None:
    with unloop.trace("hello"):
        assert unloop.event("message", words="secret") is None
    assert "unexpected keyword argument 'words'" in logged()[0]
    assert "secret" not in logged()[0]


def test_the_run_of_a_generator_is_current_only_inside_it(server: Server) -> None:
    @unloop.trace("gen", id="g")
    def lines() -> Iterator[str | None]:
        for _ in range(2):
            run = unloop.current_run()
            yield run.id if run else None

    for seen in lines():
        assert seen == "g"
        assert unloop.current_run() is None
    assert fields_of(server, "g", "type") == [("run_started",), ("run_completed",)]


def test_an_event_without_a_run_is_counted_and_logged_once(server: Server, logged: Callable[[], list[str]]) -> None:
    assert unloop.event("message", text="lost") is None
    assert unloop.event("message", text="lost") is None
    assert unloop.stats().ignored == 2
    assert len(logged()) == 1
    assert "lost" not in logged()[0]


def test_tasks_and_threads_have_separate_runs(server: Server) -> None:
    async def one(name: str) -> None:
        async with unloop.trace(name, id=name):
            for i in range(20):
                unloop.event("message", text=f"{name} {i}")
                await asyncio.sleep(0)

    async def main() -> None:
        await asyncio.gather(*(one(f"task-{i}") for i in range(10)))

    def thread(name: str) -> None:
        with unloop.trace(name, id=name):
            for i in range(20):
                unloop.event("message", text=f"{name} {i}")

    threads = [threading.Thread(target=thread, args=(f"thread-{i}",)) for i in range(20)]
    for t in threads:
        t.start()
    asyncio.run(main())
    for t in threads:
        t.join()
    for name in [f"task-{i}" for i in range(10)] + [f"thread-{i}" for i in range(20)]:
        assert fields_of(server, name, "text")[1:-1] == [(f"{name} {i}",) for i in range(20)]


def test_a_thread_can_activate_a_run(server: Server) -> None:
    with unloop.trace("hello", id="r1") as run, ThreadPoolExecutor(4) as pool:

        def joined(i: int) -> None:
            with run.activate():
                unloop.event("message", text=str(i))

        list(pool.map(joined, range(20)))
        pool.submit(contextvars.copy_context().run, unloop.event, "message", text="20").result()
    texts = [text for (text,) in fields_of(server, "r1", "text")]
    assert sorted(texts[1:-1], key=int) == [str(i) for i in range(21)]


def test_a_run_without_a_context_manager(server: Server) -> None:
    run = unloop.Run.begin("hand made", id="r1")
    run.event("message", text="hi", timestamp=1_700_000_000.5)
    run.end(status="stopped")
    run.end(error=ValueError("too late"))
    assert fields_of(server, "r1", "type", "status") == [("run_started", None), ("message", None), ("run_completed", "stopped")]
    assert server.events("r1")[1]["timestamp"].startswith("2023-11-14T22:13:20.5")


def test_an_event_keeps_each_kind_of_tokens(server: Server) -> None:
    kinds = {name: number for number, name in enumerate(USAGE, 1)}
    with unloop.trace("hello", id="r1"):
        unloop.event("llm_call_completed", model="m", usage={**kinds, "unknown_tokens": 7})
        unloop.event("llm_call_completed", model="m", usage={"output_tokens": 5, "reasoning_tokens": 0})
    assert "reasoning_tokens" in kinds
    assert fields_of(server, "r1", "usage")[1:3] == [(kinds,), ({"output_tokens": 5},)]


def test_values_are_serialized_when_they_are_recorded(server: Server) -> None:
    hits = ["a"]
    with unloop.trace("hello", id="r1"):
        unloop.event("tool_call_completed", tool="search", output=hits)
        hits.append("b")
    assert fields_of(server, "r1", "output")[1] == (["a"],)


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    "fields",
    [
        {"input": Hostile()},
        {"name": Hostile()},
        {"tokens": float("nan")},
        {"tokens": 1 << 80},
        {"cost": float("inf"), "latency_ms": float("nan")},
        {"text": "a\ud800b", "tool": "\ud800"},
        {"timestamp": float("inf")},
        {"metadata": {"a": Hostile()}},
        {"agent": "x" * 100_000, "call_id": "y" * 100_000},
        {"output": [[[[]]]] * 1_000_000},
    ],
    ids=lambda fields: ",".join(fields),
)
def test_a_hostile_value_neither_raises_nor_is_rejected(server: Server, fields: dict[str, Any]) -> None:
    with unloop.trace("hello", id="r1"):
        unloop.event("tool_call_completed", **fields)
        unloop.event("message", text="after")
    texts = [text for (text,) in fields_of(server, "r1", "text")]
    assert texts[-2:] == ["after", None]
    assert unloop.stats().rejected == 0
