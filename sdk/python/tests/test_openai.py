"""A wrapped client of OpenAI's: what a server knows of an agent that calls the API by itself."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import openai
import pytest

import examples
import unloop
import works
from adapters import calls, line, rules, told, types
from conftest import Server
from modelapi import HONEST, RUNAWAY, Call, Fail, ModelAPI, Say, Turn, search, serve
from unloop.openai import wrap

Ask = Callable[[openai.OpenAI], Any]


def client(api: ModelAPI) -> openai.OpenAI:
    return wrap(openai.OpenAI(api_key="none", base_url=api.url + "/v1", max_retries=0))


def results(asked: list[Any]) -> list[str]:
    return [search(**json.loads(arguments)) for arguments in asked]


def chat(client: openai.OpenAI) -> None:
    talk(lambda messages: client.chat.completions.create(model="coder-2", messages=messages).choices[0].message)


def chat_raw(client: openai.OpenAI) -> None:
    raw = client.chat.completions.with_raw_response
    talk(lambda messages: raw.create(model="coder-2", messages=messages).parse().choices[0].message)


def chat_stream(client: openai.OpenAI) -> None:
    def complete(messages: Any) -> Any:
        options: Any = {"include_usage": True}
        with client.chat.completions.stream(model="coder-2", messages=messages, stream_options=options) as stream:
            return stream.get_final_completion().choices[0].message

    talk(complete)


def talk(complete: Callable[[Any], Any], tools: Any = (search,)) -> None:
    named = {one.__name__: one for one in tools}
    messages: list[Any] = [{"role": "user", "content": "find it"}]
    while calls := (message := complete(messages)).tool_calls:
        messages.append(message.model_dump(include={"role", "content", "tool_calls"}, exclude_none=True))
        for call in calls:
            result = named[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def responses(client: openai.OpenAI) -> None:
    """The whole history in each request."""
    given: list[Any] = [{"role": "user", "content": "find it"}]
    while True:
        output = client.responses.create(model="coder-2", input=given).output
        asked = [item for item in output if item.type == "function_call"]
        given += [item.model_dump(exclude_none=True) for item in output]
        for call, result in zip(asked, results([c.arguments for c in asked]), strict=True):
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": result})
        if not asked:
            return


def responses_stream(client: openai.OpenAI) -> None:
    """Only what is new in each request: the API has the history."""
    given: Any = "find it"
    before: Any = openai.omit
    while True:
        response = None
        for event in client.responses.create(model="coder-2", input=given, previous_response_id=before, stream=True):
            response = event.response if event.type == "response.completed" else response
        assert response
        asked = [item for item in response.output if item.type == "function_call"]
        if not asked:
            return
        told = zip(asked, results([c.arguments for c in asked]), strict=True)
        given = [{"type": "function_call_output", "call_id": c.call_id, "output": result} for c, result in told]
        before = response.id


ways = pytest.mark.parametrize("agent", [chat, chat_raw, chat_stream, responses, responses_stream])


@ways
def test_a_runaway_agent_is_warned_of(server: Server, agent: Ask) -> None:
    with serve(RUNAWAY) as api, unloop.trace("runaway", id="r"):
        agent(client(api))
    assert rules(server, "r") == ["same_call_same_result"]


def test_works_of_the_golden_table_have_its_verdicts(server: Server) -> None:
    """Without those whose tools fail: the API does not say that a result is an error."""

    def play(id: str, steps: list[works.Step]) -> None:
        with serve(works.turns(steps), works.TOKENS) as api, unloop.trace("finder", id=id):
            chats = client(api).chat.completions
            talk(lambda messages: chats.create(model="coder-2", messages=messages).choices[0].message, works.TOOLS)

    works.check(server, play, works.of_tools("search", "read", "find_letter"))


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
    texts = [line(e, "role", "text") for e in events if e["type"] == "message"]
    assert texts == [("message", "user", "find it"), ("message", "assistant", "7 m.")]
    assert all(e["latency_ms"] > 0 for e in events if e["type"] == "llm_call_completed")


def test_async_clients_and_their_streams(server: Server) -> None:
    async def agent(api: ModelAPI) -> None:
        client = wrap(openai.AsyncOpenAI(api_key="none", base_url=api.url + "/v1"))
        messages: list[Any] = [{"role": "user", "content": "find it"}]
        completion = await client.with_options(timeout=9).chat.completions.create(model="coder-2", messages=messages)
        assert completion.choices[0].message.tool_calls
        call = completion.choices[0].message.tool_calls[0]
        messages += [
            completion.choices[0].message.model_dump(exclude_none=True),
            {"role": "tool", "tool_call_id": call.id, "content": "0 results"},
        ]
        stream = await client.chat.completions.create(model="coder-2", messages=messages, stream=True)
        assert isinstance(stream, openai.AsyncStream)
        assert "".join([c.choices[0].delta.content or "" async for c in stream if c.choices]) == "no"

    turns: list[Turn] = [Call("search", {"query": "loops"}), Say("no")]
    with serve(turns) as api, unloop.trace("async", id="r"):
        asyncio.run(agent(api))
    events = told(server, "r")
    assert calls(events) == [("asked", "search", {"query": "loops"}), ("completed", "search", "0 results")]
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    assert [e["tokens"] for e in answered] == [110, 110]
    assert [e["usage"] for e in answered] == [{"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}] * 2


def test_errors_of_the_api_are_told_and_raised(server: Server) -> None:
    with serve([Fail(503), Fail(429)]) as api, unloop.trace("errors", id="r"):
        for kind in (openai.InternalServerError, openai.RateLimitError):
            with pytest.raises(kind):
                client(api).chat.completions.create(model="coder-2", messages=[])
    assert [e for e in types(told(server, "r")) if e.startswith("llm")] == ["llm_call_started", "llm_call_failed"] * 2


def test_who_leaves_a_stream_has_what_came_until_then(server: Server) -> None:
    with serve([Say("seven metres")]) as api, unloop.trace("left", id="r"):
        stream = client(api).chat.completions.create(model="coder-2", messages=[], stream=True)
        assert isinstance(stream, openai.Stream)
        pieces: Iterator[Any] = iter(stream)
        while (next(pieces).choices[0].delta.content or "") != "m":
            pass
        stream.close()
    events = told(server, "r")
    assert types(events) == ["run_started", "llm_call_started", "llm_call_completed", "message", "run_completed"]
    assert events[3]["text"] == "seven m"


def test_an_answer_that_the_agent_reads_from_the_network_by_itself(server: Server) -> None:
    with serve([Say("seven")]) as api, unloop.trace("own", id="r"):
        streaming = client(api).chat.completions.with_streaming_response
        with streaming.create(model="coder-2", messages=[]) as response:
            assert "seven" in "".join(response.iter_lines())
    assert types(told(server, "r")) == ["run_started", "llm_call_started", "llm_call_completed", "run_completed"]


def test_twenty_threads_each_with_a_run_of_its_own(server: Server) -> None:
    with serve([Say("seven")] * 200) as api:
        asking = client(api)

        def work(name: str) -> None:
            with unloop.trace(name, id=name):
                for _ in range(10):
                    asking.chat.completions.create(model="coder-2", messages=[{"role": "user", "content": name}])

        with ThreadPoolExecutor(20) as pool:
            list(pool.map(work, map(str, range(20))))
    for name in map(str, range(20)):
        events = told(server, name)
        assert types(events).count("llm_call_completed") == 10
        assert [e["text"] for e in events if e["role"] == "user"] == [name]


def test_a_server_that_gives_each_call_the_same_id(server: Server) -> None:
    """Some do. A history that is told again with each request must not be taken for new results, nor new ones for old."""
    asked: Any = {"id": "call", "type": "function", "function": {"name": "search", "arguments": '{"query":"loops"}'}}
    with serve(RUNAWAY) as api, unloop.trace("ids", id="r"):
        asking, messages = client(api), list[Any]()
        answer = api.answer
        for n in range(4):
            api.answer = lambda path, body: rename(answer(path, body))  # type: ignore[method-assign]
            asking.chat.completions.create(model="coder-2", messages=messages)
            tail = {"role": "tool", "tool_call_id": "call", "content": f"page {n}"}
            messages = [*messages, {"role": "assistant", "tool_calls": [asked]}, tail]
        asking.chat.completions.create(model="coder-2", messages=messages)
    outcomes = [e["output"] for e in told(server, "r") if e["type"] == "tool_call_completed"]
    assert outcomes == ["page 0", "page 1", "page 2", "page 3"]


def rename(answer: tuple[int, Any]) -> tuple[int, Any]:
    answer[1]["choices"][0]["message"]["tool_calls"][0]["id"] = "call"
    return answer


def test_handoffs_and_what_a_guard_said(server: Server) -> None:
    """The warning of a guard counts up; without it, equal results are equal."""
    turns: list[Turn] = [Call("transfer_to_billing", {}), *[Call("search", {"query": "x"})] * 3, Say("done")]
    contents = iter(["", "none", "none [loop-guard] Again? 2 times", '{"error":"[loop-guard] No.","loop_blocked":true}'])
    with serve(turns) as api, unloop.trace("handoff", id="r"):
        asking, messages = client(api), list[Any]()
        while calls_ := asking.chat.completions.create(model="coder-2", messages=messages).choices[0].message.tool_calls:
            messages = [*messages, {"role": "tool", "tool_call_id": calls_[0].id, "content": next(contents)}]
    events = told(server, "r")
    assert [e["agent"] for e in events if e["type"] == "handoff_started"] == ["billing"]
    assert [row[0::2] for row in calls(events)][1::2] == [
        ("completed", "none"),
        ("completed", "none"),
        ("blocked", {"error": "[loop-guard] No.", "loop_blocked": True}),
    ]


def test_without_a_run_nothing_is_recorded_and_a_client_is_wrapped_once(server: Server) -> None:
    with serve([Say("a"), Say("b")]) as api:
        asking = client(api)
        assert wrap(asking) is asking
        asking.chat.completions.create(model="coder-2", messages=[])
        assert unloop.stats().given == 0
        with unloop.trace("once", id="r"):
            asking.chat.completions.create(model="coder-2", messages=[])
    assert types(told(server, "r")).count("llm_call_started") == 1


def test_what_cannot_be_read_harms_nobody(server: Server, logged: Callable[[], list[str]]) -> None:
    class Odd(dict[str, Any]):
        def get(self, *args: Any) -> Any:
            raise RuntimeError("secret")

    with serve([Say("a")]) as api, unloop.trace("odd", id="r"):
        body: Any = [Odd(role="user", content="x")]
        message = client(api).chat.completions.create(model="coder-2", messages=body).choices[0].message
    assert message.content == "a"
    assert "secret" not in " ".join(logged())


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    printed = []
    for code in examples.blocks("docs/openai.md"):
        with serve(RUNAWAY) as api:
            env = {"OPENAI_BASE_URL": api.url + "/v1", "OPENAI_API_KEY": "none", "UNLOOP_ENDPOINT": server.url}
            printed.append(examples.run(code, tmp_path, **env))
    assert [text.partition(":")[0] for text in printed] == ["", "stopped"]
    runs = {run["status"]: run["id"] for run in server.runs()}
    assert sorted(runs) == ["completed", "failed"]
    assert [rules(server, runs[status]) for status in sorted(runs)] == [["same_call_same_result"]] * 2
