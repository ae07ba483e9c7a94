"""Observed functions, as a real server records them."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

import unloop
from conftest import Server, fields_of


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
    assert fields_of(server, "r1", "tool", "input")[1] == ("buy", {"what": "bread"})
    assert server.events("r1")[2]["output"] is None


def test_a_tool_that_fails_is_observed(server: Server) -> None:
    @unloop.observe
    def search(query: str) -> None:
        raise LookupError(query)

    with unloop.trace("hello", id="r1"), pytest.raises(LookupError):
        search("loops")
    assert fields_of(server, "r1", "type", "error")[2] == ("tool_call_failed", "LookupError: loops")


def test_async_functions_are_observed(server: Server) -> None:
    @unloop.observe(kind="llm")
    async def model(prompt: str) -> str:
        await asyncio.sleep(0)
        return prompt.upper()

    async def main() -> None:
        async with unloop.trace("hello", id="r1"):
            assert await model("hi") == "HI"

    asyncio.run(main())
    assert fields_of(server, "r1", "type", "model", "output")[1:3] == [
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
    outputs = [output for kind, output in fields_of(server, "r1", "type", "output") if kind == "tool_call_completed"]
    assert sorted(outputs, key=str) == [["a", "b!"], ["a"], [0, 1, 2]]


def test_a_generator_that_is_closed_early_ends_within_its_run(server: Server) -> None:
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


def test_an_agent_names_its_events_and_is_a_run_if_there_is_none(server: Server) -> None:
    @unloop.observe
    def search(query: str) -> None: ...

    @unloop.observe(kind="agent", name="writer")
    def writer() -> None:
        search("x")

    writer()
    assert unloop.flush()
    (row,) = server.runs()
    assert row["name"] == "writer"
    assert fields_of(server, row["id"], "type", "agent")[2:4] == [
        ("tool_call_started", "writer"),
        ("tool_call_completed", "writer"),
    ]
    assert unloop.stats().ignored == 0


def test_loops_are_found_without_captured_values(server: Server) -> None:
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
