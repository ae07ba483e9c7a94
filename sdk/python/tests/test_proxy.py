"""The proxy in front of model APIs: the vendors' own clients and frameworks behind it, and a scripted API in front of it."""

from __future__ import annotations

import contextlib
import json
import operator
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict, cast

import anthropic
import openai
import pytest
from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled
from agents.models.openai_responses import OpenAIResponsesModel
from google import genai
from google.genai import errors, types
from langgraph.graph import END, START, StateGraph

from conftest import Server
from modelapi import HONEST, Call, Calls, Fail, Hold, ModelAPI, Say, Turn, search, serve

RUNAWAY: list[Turn] = [*[Call("search", {"query": "loops"})] * 60, Say("I give up.")]


def halted(base: str) -> int:
    """How many requests the proxy answered in the model's place."""
    with urllib.request.urlopen(base + "/healthz") as answer:
        return int(json.load(answer)["halted"])


@contextlib.contextmanager
def proxied(program: str, turns: list[Turn], *flags: str) -> Iterator[tuple[str, ModelAPI]]:
    """A proxy in front of an API that plays its turns."""
    with serve(turns) as api:
        command = [
            program,
            "proxy",
            "--addr",
            "127.0.0.1:0",
            "--openai-upstream",
            api.url,
            "--anthropic-upstream",
            api.url,
            "--gemini-upstream",
            api.url,
            *flags,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            base = next(line for line in process.stdout if "OPENAI_BASE_URL" in line).split("=")[1].strip()
            try:
                yield base.removesuffix("/openai/v1"), api
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(60)
        assert process.returncode == 0


Step = Callable[[list[Any], bool], tuple[list[Any], list[tuple[str, str, str]], str]]
"""Asks the model once: what is added to the history, the calls (id, name, arguments), and the text."""


def chat(base: str) -> Step:
    client = openai.OpenAI(api_key="none", base_url=base + "/openai/v1")

    def step(history: list[Any], streamed: bool) -> tuple[list[Any], list[tuple[str, str, str]], str]:
        if streamed:
            with client.chat.completions.stream(model="m", messages=history) as stream:
                message = stream.get_final_completion().choices[0].message
        else:
            message = cast(Any, client.chat.completions.create(model="m", messages=history).choices[0].message)
        calls = [(c.id, c.function.name, c.function.arguments) for c in message.tool_calls or [] if c.type == "function"]
        asked = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in calls]
        said: dict[str, Any] = {"role": "assistant", "content": message.content}
        return [said | ({"tool_calls": asked} if asked else {})], calls, message.content or ""

    return step


def chat_result(id: str, text: str) -> Any:
    return {"role": "tool", "tool_call_id": id, "content": text}


def responses(base: str) -> Step:
    client = openai.OpenAI(api_key="none", base_url=base + "/openai/v1")

    def step(history: list[Any], streamed: bool) -> tuple[list[Any], list[tuple[str, str, str]], str]:
        if streamed:
            with client.responses.stream(model="m", input=history, store=False) as stream:
                answer: Any = stream.get_final_response()
        else:
            answer = client.responses.create(model="m", input=history, store=False)
        calls = [(i.call_id, i.name, i.arguments) for i in answer.output if i.type == "function_call"]
        return [i.to_dict() for i in answer.output], calls, answer.output_text

    return step


def responses_result(id: str, text: str) -> Any:
    return {"type": "function_call_output", "call_id": id, "output": text}


def messages(base: str) -> Step:
    client = anthropic.Anthropic(api_key="none", base_url=base + "/anthropic")

    def step(history: list[Any], streamed: bool) -> tuple[list[Any], list[tuple[str, str, str]], str]:
        if streamed:
            with client.messages.stream(model="m", max_tokens=100, messages=history) as stream:
                answer: Any = stream.get_final_message()
        else:
            answer = client.messages.create(model="m", max_tokens=100, messages=history)
        calls = [(b.id, b.name, json.dumps(b.input)) for b in answer.content if b.type == "tool_use"]
        text = "".join(b.text for b in answer.content if b.type == "text")
        return [{"role": "assistant", "content": [b.to_dict() for b in answer.content]}], calls, text

    return step


def messages_result(id: str, text: str) -> Any:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}


def gemini(base: str) -> Step:
    retries = types.HttpRetryOptions(attempts=3, initial_delay=0.01)
    options = types.HttpOptions(base_url=base + "/gemini", retry_options=retries)
    client = genai.Client(api_key="none", http_options=options)

    def step(history: list[Any], streamed: bool) -> tuple[list[Any], list[tuple[str, str, str]], str]:
        contents = [entry if "parts" in entry else {"role": "user", "parts": [{"text": entry["content"]}]} for entry in history]
        if streamed:
            answers = list(client.models.generate_content_stream(model="m", contents=contents))
        else:
            answers = [client.models.generate_content(model="m", contents=contents)]
        found = [part for answer in answers for c in answer.candidates or [] if c.content for part in c.content.parts or []]
        calls = [(f.name or "", f.name or "", json.dumps(f.args)) for part in found if (f := part.function_call)]
        text = "".join(part.text or "" for part in found)
        return [{"role": "model", "parts": [part.model_dump(exclude_none=True) for part in found]}], calls, text

    return step


def gemini_result(id: str, text: str) -> Any:
    return {"role": "user", "parts": [{"function_response": {"name": id, "response": {"output": text}}}]}


CLIENTS = {
    "chat": (chat, chat_result),
    "responses": (responses, responses_result),
    "messages": (messages, messages_result),
    "gemini": (gemini, gemini_result),
}


def work(step: Step, result: Callable[[str, str], Any], streamed: bool, history: list[Any]) -> str:
    """Plays an agent until the model says something; returns what."""
    for _ in range(100):
        said, calls, text = step(history, streamed)
        history += said
        if not calls:
            return text
        history += [result(id, search(**json.loads(args))) for id, _, args in calls]
    raise AssertionError("the agent never ended")


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_runaway_agent_ends_with_the_answer_of_the_halt(unloop_bin: str, name: str, streamed: bool) -> None:
    client, result = CLIENTS[name]
    with proxied(unloop_bin, RUNAWAY, "--mode", "guard") as (base, api):
        history: list[Any] = [{"role": "user", "content": "find it"}]
        step = client(base)
        text = work(step, result, streamed, history)
        assert text.startswith("[unloop] ") and "no progress" in text
        asked = len(api.requests)
        assert 4 < asked < 40
        nudges = [r for r in api.requests if "[unloop] " in json.dumps(r)]
        assert nudges and nudges[0] is not api.requests[0]
        # A person's word lets it go on, and the model reads the whole history.
        step([*history, {"role": "user", "content": "look under harbour"}], streamed)
        assert len(api.requests) == asked + 1


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", CLIENTS)
def test_an_agent_that_makes_progress_is_left_alone(unloop_bin: str, name: str, streamed: bool) -> None:
    client, result = CLIENTS[name]
    with proxied(unloop_bin, HONEST, "--mode", "guard") as (base, api):
        assert work(client(base), result, streamed, [{"role": "user", "content": "find it"}]) == "7 m."
        assert "[unloop]" not in json.dumps(api.requests)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_stream_that_repeats_itself_is_ended_in_order(unloop_bin: str, name: str) -> None:
    client, _ = CLIENTS[name]
    with proxied(unloop_bin, [Say("Let me check the file once more. " * 400)], "--mode", "guard") as (base, _):
        _, calls, text = client(base)([{"role": "user", "content": "find it"}], True)
    assert not calls
    assert "[unloop] The answer was stopped here" in text and len(text) < 8000


def until_blocked(requests: list[dict[str, Any]], pair: Calls) -> Iterator[Turn]:
    """Repeats one call until the proxy has nudged three times, and then asks for two."""
    nudged = 0
    while nudged < 3:
        yield Call("search", {"query": "loops"})
        nudged += bool(requests) and "[unloop] " in json.dumps(requests[-1])
    yield pair


@pytest.mark.parametrize("queries", [("loops", "harbour"), ("harbour", "loops")], ids=["first", "second"])
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("name", CLIENTS)
def test_a_call_that_continues_the_loop_is_taken_out_of_an_answer(
    unloop_bin: str, name: str, streamed: bool, queries: tuple[str, str]
) -> None:
    client, result = CLIENTS[name]
    with proxied(unloop_bin, [], "--mode", "guard") as (base, api):
        api.turns = until_blocked(api.requests, Calls([Call("search", {"query": query}) for query in queries]))
        history: list[Any] = [{"role": "user", "content": "find it"}]
        step = client(base)
        for _ in range(40):
            said, calls, text = step(history, streamed)
            if text:
                break
            history += [*said, *(result(id, search(**json.loads(args))) for id, _, args in calls)]
        assert [json.loads(args) for _, _, args in calls] == [{"query": "harbour"}]
        assert text.startswith("[unloop] The call of search was not made.")


def hear_chat(base: str, told: list[Any]) -> None:
    """Reads the beginning of a stream, and cancels it. The functions below do the same."""
    client = openai.OpenAI(api_key="none", base_url=base + "/openai/v1")
    with client.chat.completions.create(model="m", messages=told, stream=True) as stream:
        assert next(iter(stream)).choices[0].delta.content == "a"


def hear_responses(base: str, told: list[Any]) -> None:
    client = openai.OpenAI(api_key="none", base_url=base + "/openai/v1")
    with client.responses.create(model="m", input=told, stream=True) as stream:
        assert next(iter(stream)).type == "response.created"


def hear_messages(base: str, told: list[Any]) -> None:
    client = anthropic.Anthropic(api_key="none", base_url=base + "/anthropic")
    with client.messages.create(model="m", max_tokens=100, messages=told, stream=True) as stream:
        assert next(iter(stream)).type == "message_start"


def hear_gemini(base: str, told: list[Any]) -> None:
    client = genai.Client(api_key="none", http_options=types.HttpOptions(base_url=base + "/gemini"))
    stream: Any = client.models.generate_content_stream(model="m", contents="find it")
    assert next(stream).text == "a"
    stream.close()
    client.close()


HEARD = {"chat": hear_chat, "responses": hear_responses, "messages": hear_messages, "gemini": hear_gemini}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_that_cancels_ends_the_call_of_the_api(unloop_bin: str, name: str) -> None:
    client, result = CLIENTS[name]
    held = threading.Event()
    with proxied(unloop_bin, [], "--mode", "guard") as (base, api):
        api.turns = iter([Hold(held), Say("7 m.")])
        told: list[Any] = [{"role": "user", "content": "find it"}]
        HEARD[name](base, told)
        assert held.wait(60), "the API still answers"
        assert work(client(base), result, True, told) == "7 m."


def test_an_error_is_not_tried_again(unloop_bin: str) -> None:
    flags = ["--mode", "guard", "--on-halt", "error"]
    told = [{"role": "user", "content": "find it"}]
    with proxied(unloop_bin, RUNAWAY, *flags) as (base, _):
        with pytest.raises(openai.BadRequestError, match="unloop"):
            work(chat(base), chat_result, True, list(told))
        assert halted(base) == 1
        with pytest.raises(openai.BadRequestError, match="unloop"):
            work(responses(base), responses_result, False, list(told))
        assert halted(base) == 2
        with pytest.raises(anthropic.BadRequestError, match="unloop"):
            work(messages(base), messages_result, False, list(told))
        assert halted(base) == 3
    with proxied(unloop_bin, RUNAWAY, *flags) as (base, api):
        with pytest.raises(errors.ClientError, match="unloop"):
            work(gemini(base), gemini_result, True, list(told))
        assert len(api.requests) < 40


def test_an_error_of_the_api_is_tried_again_as_without_the_proxy(unloop_bin: str) -> None:
    with proxied(unloop_bin, [Fail(529), Fail(500), Say("7 m.")]) as (base, api):
        assert work(messages(base), messages_result, False, [{"role": "user", "content": "find it"}]) == "7 m."
        assert len(api.requests) == 3
    for client, result in (chat, chat_result), (responses, responses_result):
        with proxied(unloop_bin, [Fail(503), Fail(500), Say("7 m.")]) as (base, api):
            assert work(client(base), result, True, [{"role": "user", "content": "find it"}]) == "7 m."
            assert len(api.requests) == 3
    with proxied(unloop_bin, [Fail(503), Fail(500), Say("7 m.")]) as (base, api):
        assert work(gemini(base), gemini_result, False, [{"role": "user", "content": "find it"}]) == "7 m."
        assert len(api.requests) == 3


def test_openai_agents_end_in_order(unloop_bin: str) -> None:
    set_tracing_disabled(True)
    try:
        with proxied(unloop_bin, RUNAWAY, "--mode", "guard") as (base, _):
            client = openai.AsyncOpenAI(api_key="none", base_url=base + "/openai/v1")
            agent = Agent(
                "finder",
                model=OpenAIResponsesModel("m", client),
                tools=[function_tool(search)],
                model_settings=ModelSettings(tool_choice="auto"),
            )
            assert Runner.run_sync(agent, "find it", max_turns=100).final_output.startswith("[unloop] ")
    finally:
        set_tracing_disabled(False)


class Work(TypedDict):
    """The state of the graph: the messages, as Chat Completions has them."""

    messages: Annotated[list[Any], operator.add]


def test_a_graph_of_langgraph_ends_in_order(unloop_bin: str) -> None:
    with proxied(unloop_bin, RUNAWAY, "--mode", "guard") as (base, api):
        step = chat(base)

        def model(state: Work) -> Work:
            return {"messages": step(state["messages"], False)[0]}

        def tools(state: Work) -> Work:
            calls = state["messages"][-1]["tool_calls"]
            return {"messages": [chat_result(c["id"], search(**json.loads(c["function"]["arguments"]))) for c in calls]}

        graph = StateGraph(Work)
        graph.add_node("model", model)
        graph.add_node("tools", tools)
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", lambda state: "tools" if "tool_calls" in state["messages"][-1] else END)
        graph.add_edge("tools", "model")
        done = graph.compile().invoke({"messages": [{"role": "user", "content": "find it"}]}, {"recursion_limit": 100})
        assert done["messages"][-1]["content"].startswith("[unloop] ")
        assert 4 < len(api.requests) < 40


def test_the_server_has_each_event_once(unloop_bin: str, server: Server) -> None:
    with proxied(unloop_bin, HONEST, "--server", server.url) as (base, _):
        work(messages(base), messages_result, True, [{"role": "user", "content": "find it"}])
    (run,) = server.runs()
    events = server.events(run["id"])
    assert [e["type"] for e in events].count("tool_call_started") == 4
    assert [e["type"] for e in events].count("tool_call_completed") == 4
    assert len({e["event_id"] for e in events}) == len(events)
