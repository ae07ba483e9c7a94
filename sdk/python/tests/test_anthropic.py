"""A wrapped client of Anthropic's: what a server knows of an agent that calls the API by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import pytest

import examples
import unloop
import works
from adapters import calls, line, rules, told, types
from conftest import Server
from modelapi import HONEST, RUNAWAY, Call, Fail, ModelAPI, Say, Turn, search, serve
from unloop.anthropic import wrap

Ask = Callable[[anthropic.Anthropic], Any]


def client(api: ModelAPI) -> anthropic.Anthropic:
    return wrap(anthropic.Anthropic(api_key="none", base_url=api.url, max_retries=0))


def plain(client: anthropic.Anthropic) -> None:
    talk(lambda messages: client.messages.create(model="coder-2", max_tokens=99, messages=messages))


def raw(client: anthropic.Anthropic) -> None:
    talk(lambda m: client.messages.with_raw_response.create(model="coder-2", max_tokens=99, messages=m).parse())


def stream(client: anthropic.Anthropic) -> None:
    def ask(messages: Any) -> Any:
        with client.messages.stream(model="coder-2", max_tokens=99, messages=messages) as stream:
            return stream.get_final_message()

    talk(ask)


def beta(client: anthropic.Anthropic) -> None:
    talk(lambda messages: client.beta.messages.create(model="coder-2", max_tokens=99, messages=messages))


def talk(ask: Callable[[Any], Any], tools: Any = (search,)) -> None:
    named = {one.__name__: one for one in tools}
    messages: list[Any] = [{"role": "user", "content": "find it"}]
    while True:
        answer = ask(messages)
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return
        results = [{"type": "tool_result", "tool_use_id": c.id, **content(named[c.name], c.input)} for c in calls]
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": results}]


def content(tool: Callable[..., str], args: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"content": tool(**args)}
    except Exception as error:
        return {"content": f"{type(error).__name__}: {error}", "is_error": True}


ways = pytest.mark.parametrize("agent", [plain, raw, stream, beta])


@ways
def test_a_runaway_agent_is_warned_of(server: Server, agent: Ask) -> None:
    with serve(RUNAWAY) as api, unloop.trace("runaway", id="r"):
        agent(client(api))
    assert rules(server, "r") == ["same_call_same_result"]


def test_the_works_of_the_golden_table_have_its_verdicts(server: Server) -> None:
    def play(id: str, steps: list[works.Step]) -> None:
        with serve(works.turns(steps), works.TOKENS) as api, unloop.trace("finder", id=id):
            messages = client(api).messages
            talk(lambda given: messages.create(model="coder-2", max_tokens=99, messages=given), works.TOOLS)

    works.check(server, play)


@ways
def test_an_honest_agent_is_told_of_as_it_is(server: Server, agent: Ask) -> None:
    with serve(HONEST) as api, unloop.trace("honest", id="r"):
        agent(client(api))
    events = told(server, "r")
    assert rules(server, "r") == []
    asked = [{"query": turn.args["query"]} for turn in HONEST if isinstance(turn, Call)]
    assert calls(events) == [
        row for given in asked for row in (("asked", "search", given), ("completed", "search", search(**given)))
    ]
    model = [line(e, "model", "tokens") for e in events if e["type"].startswith("llm_")]
    assert model == [("llm_call_started", "coder-2", None), ("llm_call_completed", "coder-2-0801", 110)] * 5
    said = [line(e, "role", "text") for e in events if e["type"] == "message"]
    assert said == [("message", "user", "find it"), ("message", "assistant", "7 m.")]


def test_async_clients_their_streams_and_failed_tools(server: Server) -> None:
    async def agent(api: ModelAPI) -> None:
        client = wrap(anthropic.AsyncAnthropic(api_key="none", base_url=api.url))
        how: Any = {"model": "coder-2", "max_tokens": 99}
        messages: list[Any] = [{"role": "user", "content": "find it"}]
        async with client.with_options(timeout=9).messages.stream(messages=messages, **how) as stream:
            answer = await stream.get_final_message()
        block: Any = answer.content[0]
        said = [{"type": "text", "text": "no"}, {"type": "text", "text": " such page"}]
        result = {"type": "tool_result", "tool_use_id": block.id, "content": said, "is_error": True}
        messages += [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
        await (await client.messages.with_raw_response.create(messages=messages, **how)).parse()
        events = await client.messages.create(messages=messages, stream=True, **how)
        assert isinstance(events, anthropic.AsyncStream)
        assert [event.type async for event in events][-1] == "message_stop"

    turns: list[Turn] = [Call("search", {"query": "loops"}), Say("no"), Say("really no")]
    with serve(turns) as api, unloop.trace("async", id="r"):
        asyncio.run(agent(api))
    events = told(server, "r")
    assert calls(events) == [("asked", "search", {"query": "loops"}), ("failed", "search", "no such page")]
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    assert [e["tokens"] for e in answered] == [110, 110, 110]
    parts = {"input_tokens": 100, "output_tokens": 10, "cached_input_tokens": 50, "cache_write_tokens": 10, "reasoning_tokens": 4}
    assert [e["usage"] for e in answered] == [parts] * 3
    assert [e["text"] for e in events if e["type"] == "message"] == ["find it", "no", "really no"]


def test_errors_of_the_api_are_told_and_raised(server: Server) -> None:
    with serve([Fail(529)]) as api, pytest.raises(anthropic.APIStatusError), unloop.trace("errors", id="r"):
        client(api).messages.create(model="coder-2", max_tokens=9, messages=[])
    assert types(told(server, "r")) == ["run_started", "llm_call_started", "llm_call_failed", "run_failed"]


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    for code in examples.blocks("docs/anthropic.md"):
        with serve(RUNAWAY) as api:
            env = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "none", "UNLOOP_ENDPOINT": server.url}
            assert examples.run(code, tmp_path, **env).startswith("stopped: ")
    [run] = server.runs()
    assert "tool_call_blocked" in types(told(server, run["id"]))
    assert rules(server, run["id"]) == ["same_call_same_result"]
