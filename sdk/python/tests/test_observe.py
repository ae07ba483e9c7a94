"""Runs, events and observed functions, as a real server sees them."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import unloop
from conftest import Server
from unloop._run import USAGE


def told(server: Server, id: str, *fields: str) -> list[tuple[Any, ...]]:
    assert unloop.flush()
    return [tuple(event[field] for field in fields) for event in server.events(id)]


def test_a_run_is_told(server: Server) -> None:
    with unloop.trace("hello", id="r1", project="lab", metadata={"k": 1}) as run:
        assert unloop.current_run() is run
        event_id = unloop.event("message", text="hi", role="user", tokens=3, cost=0.5)
    assert unloop.current_run() is None
    assert told(server, "r1", "type", "text", "tokens", "cost") == [
        ("run_started", None, None, None),
        ("message", "hi", 3, 0.5),
        ("run_completed", None, None, None),
    ]
    assert server.events("r1")[1]["event_id"] == event_id
    sequences = [event["sequence"] for event in server.events("r1")]
    assert 0 < sequences[0] < sequences[1] < sequences[2]
    row = server.run("r1")
    assert (row["name"], row["project"], row["status"], row["metadata"]) == ("hello", "lab", "completed", {"k": 1})


def test_an_error_fails_the_run_and_goes_on_its_way(server: Server) -> None:
    with pytest.raises(ValueError, match="no"), unloop.trace("hello", id="r1"):
        raise ValueError("no")
    assert told(server, "r1", "type", "error") == [("run_started", None), ("run_failed", "ValueError: no")]
    assert server.run("r1")["status"] == "failed"


def test_leaving_in_good_order_is_no_failure(server: Server) -> None:
    with pytest.raises(SystemExit), unloop.trace("hello", id="r1"):
        raise SystemExit(0)
    assert told(server, "r1", "type")[-1] == ("run_completed",)


def test_a_trace_within_a_trace_is_a_run_of_its_own(server: Server) -> None:
    with unloop.trace("outer", id="o"):
        with unloop.trace("inner", id="i"):
            unloop.event("message", text="in")
        unloop.event("message", text="out")
    assert told(server, "i", "text") == [(None,), ("in",), (None,)]
    assert told(server, "o", "text") == [(None,), ("out",), (None,)]
    assert server.run("i")["metadata"] == {"parent_run_id": "o"}


def test_a_trace_of_the_same_id_is_the_same_run(server: Server) -> None:
    with unloop.trace("outer", id="o") as outer:
        with unloop.trace("again", id="o") as inner:
            unloop.event("message", text="in")
        assert inner is outer
        unloop.event("message", text="out")
    assert told(server, "o", "type", "text") == [
        ("run_started", None),
        ("message", "in"),
        ("message", "out"),
        ("run_completed", None),
    ]


def test_an_id_that_comes_again_later_goes_on_with_its_run(server: Server) -> None:
    for text in ("first", "second"):
        with unloop.trace("thread", id="t"):
            unloop.event("message", text=text)
    assert told(server, "t", "text") == [(None,), ("first",), (None,), (None,), ("second",), (None,)]


def test_a_decorated_function_is_a_run_each_time(server: Server) -> None:
    @unloop.trace("job")
    def job(n: int) -> int:
        unloop.event("message", text=str(n))
        return n

    assert [job(1), job(2)] == [1, 2]
    assert unloop.flush()
    assert sorted(row["name"] for row in server.runs()) == ["job", "job"]


def test_a_tool_is_observed(server: Server) -> None:
    @unloop.observe
    def search(query: str, limit: int = 3, *more: str, **rest: object) -> list[str]:
        """Finds."""
        return [query]

    assert search.__doc__ == "Finds."
    with unloop.trace("hello", id="r1"):
        assert search("loops", 5, "x", lang="en") == ["loops"]
    _, start, end, _ = server.events("r1") if unloop.flush() else []
    assert (start["type"], start["tool"]) == ("tool_call_started", "search")
    assert start["input"] == {"query": "loops", "limit": 5, "args": ["x"], "lang": "en"}
    assert (end["type"], end["output"], end["call_id"]) == ("tool_call_completed", ["loops"], start["call_id"])
    assert end["latency_ms"] >= 0


def test_a_method_is_observed_without_its_object(server: Server) -> None:
    class Shop:
        @unloop.observe(name="buy")
        def purchase(self, what: str) -> None: ...

    with unloop.trace("hello", id="r1"):
        Shop().purchase("bread")
    assert told(server, "r1", "tool", "input")[1] == ("buy", {"what": "bread"})
    assert server.events("r1")[2]["output"] is None


def test_a_tool_that_fails_is_observed(server: Server) -> None:
    @unloop.observe
    def search(query: str) -> None:
        raise LookupError(query)

    with unloop.trace("hello", id="r1"), pytest.raises(LookupError):
        search("loops")
    assert told(server, "r1", "type", "error")[2] == ("tool_call_failed", "LookupError: loops")


def test_async_functions_are_observed(server: Server) -> None:
    @unloop.observe(kind="llm")
    async def model(prompt: str) -> str:
        await asyncio.sleep(0)
        return prompt.upper()

    async def main() -> None:
        async with unloop.trace("hello", id="r1"):
            assert await model("hi") == "HI"

    asyncio.run(main())
    assert told(server, "r1", "type", "model", "output")[1:3] == [
        ("llm_call_started", "model", None),
        ("llm_call_completed", "model", "HI"),
    ]


def test_generators_are_observed_with_what_they_yield(server: Server) -> None:
    @unloop.observe
    def read(path: str) -> Iterator[str]:
        got = yield "a"
        yield f"b{got}"

    @unloop.observe
    async def stream(n: int) -> AsyncIterator[int]:
        for i in range(n):
            yield i

    async def consume() -> list[int]:
        return [i async for i in stream(3)]

    with unloop.trace("hello", id="r1"):
        generator: Any = read("x")
        assert (next(generator), generator.send("!")) == ("a", "b!")
        assert list(generator) == []
        for _ in read("y"):
            break
        assert asyncio.run(consume()) == [0, 1, 2]
    outputs = [output for kind, output in told(server, "r1", "type", "output") if kind == "tool_call_completed"]
    assert sorted(outputs, key=str) == [["a", "b!"], ["a"], [0, 1, 2]]


def test_a_generator_that_is_left_early_ends_within_its_run(server: Server) -> None:
    class Kept(Exception):
        pass

    @unloop.trace("plain", id="plain")
    @unloop.observe(kind="chain")
    def plain(error: Exception | None) -> Iterator[int]:
        try:
            yield 1
            yield 2
        finally:
            unloop.event("message", text="the end")
            if error:
                raise error

    @unloop.trace("async", id="async")
    @unloop.observe(kind="chain")
    async def asynchronous(error: Exception | None) -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        finally:
            unloop.event("message", text="the end")
            if error:
                raise error

    async def both(error: Exception | None) -> None:
        first, second = plain(error), asynchronous(error)
        assert (next(first), await anext(second)) == (1, 1)
        with contextlib.suppress(Kept):
            first.close()  # type: ignore[attr-defined]
        with contextlib.suppress(Kept):
            await second.aclose()  # type: ignore[attr-defined]

    asyncio.run(both(None))
    asyncio.run(both(Kept()))
    assert unloop.flush()
    for id in ("plain", "async"):
        told = [e["type"] for e in server.events(id)]
        begins = ["run_started", "chain_started", "message"]
        assert told == [*begins, "chain_completed", "run_completed", *begins, "chain_failed", "run_failed"]
    assert unloop.current_run() is None


def test_a_field_that_there_is_not_is_said_and_harms_nobody(server: Server, said: Callable[[], list[str]]) -> None:
    with unloop.trace("hello"):
        assert unloop.event("message", words="secret") is None
    assert "unexpected keyword argument 'words'" in said()[0]
    assert "secret" not in said()[0]


def test_a_generator_keeps_its_run_to_itself(server: Server) -> None:
    @unloop.trace("gen", id="g")
    def lines() -> Iterator[str | None]:
        for _ in range(2):
            run = unloop.current_run()
            yield run.id if run else None

    for seen in lines():
        assert seen == "g"
        assert unloop.current_run() is None
    assert told(server, "g", "type") == [("run_started",), ("run_completed",)]


def test_an_agent_gives_its_name_and_is_a_run_where_there_is_none(server: Server) -> None:
    @unloop.observe
    def search(query: str) -> None: ...

    @unloop.observe(kind="agent", name="writer")
    def writer() -> None:
        search("x")

    writer()
    assert unloop.flush()
    (row,) = server.runs()
    assert row["name"] == "writer"
    assert told(server, row["id"], "type", "agent")[2:4] == [("tool_call_started", "writer"), ("tool_call_completed", "writer")]
    assert unloop.stats().ignored == 0


def test_an_event_without_a_run_is_counted_and_said_once(server: Server, said: Callable[[], list[str]]) -> None:
    assert unloop.event("message", text="lost") is None
    assert unloop.event("message", text="lost") is None
    assert unloop.stats().ignored == 2
    assert len(said()) == 1
    assert "lost" not in said()[0]


def test_tasks_and_threads_have_runs_of_their_own(server: Server) -> None:
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
        assert told(server, name, "text")[1:-1] == [(f"{name} {i}",) for i in range(20)]


def test_a_thread_joins_a_run_that_is_handed_to_it(server: Server) -> None:
    with unloop.trace("hello", id="r1") as run, ThreadPoolExecutor(4) as pool:

        def joined(i: int) -> None:
            with run.activate():
                unloop.event("message", text=str(i))

        list(pool.map(joined, range(20)))
        pool.submit(contextvars.copy_context().run, unloop.event, "message", text="20").result()
    texts = [text for (text,) in told(server, "r1", "text")]
    assert sorted(texts[1:-1], key=int) == [str(i) for i in range(21)]


def test_a_run_without_a_context_manager(server: Server) -> None:
    run = unloop.Run.begin("hand made", id="r1")
    run.event("message", text="hi", timestamp=1_700_000_000.5)
    run.end(status="stopped")
    run.end(error=ValueError("too late"))
    assert told(server, "r1", "type", "status") == [("run_started", None), ("message", None), ("run_completed", "stopped")]
    assert server.events("r1")[1]["timestamp"].startswith("2023-11-14T22:13:20.5")


def test_an_event_keeps_each_kind_of_tokens(server: Server) -> None:
    kinds = {name: number for number, name in enumerate(USAGE, 1)}
    with unloop.trace("hello", id="r1"):
        unloop.event("llm_call_completed", model="m", usage={**kinds, "unknown_tokens": 7})
        unloop.event("llm_call_completed", model="m", usage={"output_tokens": 5, "reasoning_tokens": 0})
    assert "reasoning_tokens" in kinds
    assert told(server, "r1", "usage")[1:3] == [(kinds,), ({"output_tokens": 5},)]


def test_values_are_taken_as_they_are(server: Server) -> None:
    hits = ["a"]
    with unloop.trace("hello", id="r1"):
        unloop.event("tool_call_completed", tool="search", output=hits)
        hits.append("b")
    assert told(server, "r1", "output")[1] == (["a"],)


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
def test_nothing_hostile_gets_out_or_in(server: Server, fields: dict[str, Any]) -> None:
    with unloop.trace("hello", id="r1"):
        unloop.event("tool_call_completed", **fields)
        unloop.event("message", text="after")
    texts = [text for (text,) in told(server, "r1", "text")]
    assert texts[-2:] == ["after", None]
    assert unloop.stats().rejected == 0


def test_captures_can_be_switched_off_and_loops_are_found_still(server: Server) -> None:
    unloop.configure(capture_inputs=False, capture_outputs=False)

    @unloop.observe
    def search(query: str) -> list[str]:
        return ["secret"]

    with unloop.trace("hello", id="r1"):
        for _ in range(6):
            search("secret")
        unloop.event("message", role="user", text="secret")
        unloop.event("tool_call_failed", tool="t", error=ValueError("secret"))
    with unloop.trace("honest", id="r2"):
        for i in range(6):
            search(f"secret {i}")
    assert unloop.flush()
    assert "secret" not in str(server.events("r1"))
    assert server.events("r1")[-2]["error"].startswith("ValueError: ")
    assert "same_call_same_result" in [w["type"] for w in server.warnings("r1")]
    assert "same_call_same_result" not in [w["type"] for w in server.warnings("r2")]


def test_nothing_is_done_when_disabled(server: Server) -> None:
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
    assert "unloop-sender" not in [t.name for t in threading.enumerate()]


def test_a_password_in_an_endpoint_is_not_said(said: Callable[[], list[str]]) -> None:
    unloop.configure(endpoint="http://me:hunter2@127.0.0.1:1/base")
    unloop.Run.begin("hello")
    assert not unloop.flush()
    unloop.Guard(endpoint="http://me:hunter2@127.0.0.1:1/", on_missing="warn").user("x")
    assert "127.0.0.1:1/base" in " ".join(said())
    assert "hunter2" not in " ".join(said())


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, said: Callable[[], list[str]]) -> None:
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
    assert len(said()) == 1
    assert "UNLOOP_BUFFER_BYTES" in said()[0]
    wrong = {"UNLOOP_CAPTURE_INPUTS": "flase", "UNLOOP_EXIT_TIMEOUT": "inf", "UNLOOP_CAPTURE_OUTPUTS": "on"}
    assert _settings.from_environment(wrong) == _settings.Settings()
    assert ["UNLOOP_CAPTURE_INPUTS" in said()[1], "UNLOOP_EXIT_TIMEOUT" in said()[2]] == [True, True]
    assert _settings.from_environment({"UNLOOP_TOKEN": "a\nb"}).token == ""
    assert "t" not in repr(s).replace("token", "").split("project")[0][-3:]
    logging.getLogger("unloop").setLevel(logging.NOTSET)
