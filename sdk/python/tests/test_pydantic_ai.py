"""Pydantic AI: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai import Agent, ModelRetry, RunContext, ToolReturn
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import examples
import unloop
import works
from adapters import calls, rules, told, types
from conftest import Server
from modelapi import HONEST, RUNAWAY, Call, Say, Turn, search, serve
from unloop.pydantic_ai import Unloop


def script(turns: Iterable[Turn]) -> FunctionModel:
    lines = iter(turns)

    def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        turn = next(lines)
        part = ToolCallPart(turn.tool, turn.args) if isinstance(turn, Call) else TextPart(getattr(turn, "text", ""))
        return ModelResponse(parts=[part])

    return FunctionModel(play, model_name="script")


def agent(turns: Iterable[Turn], watch: Unloop, **options: Any) -> Agent[None, str]:
    return Agent(script(turns), name="finder", tools=[search], capabilities=[watch], retries=50, **options)


def results(result: Any) -> list[Any]:
    return [p.content for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]


def test_a_runaway_agent_is_warned_of(server: Server) -> None:
    result = agent(RUNAWAY, Unloop()).run_sync("find it", conversation_id="r")
    assert results(result) == ["0 results"] * 12
    assert rules(server, "r") == ["same_call_same_result"]


@pytest.mark.parametrize("guarded", [False, True])
def test_an_honest_agent_is_told_of_as_it_is(server: Server, guard_bin: str, guarded: bool) -> None:
    watch = Unloop(unloop.AsyncGuard()) if guarded else Unloop()
    assert agent(HONEST, watch).run_sync("find it", conversation_id="r").output == "7 m."
    events = told(server, "r")
    asked = [{"query": turn.args["query"]} for turn in HONEST if isinstance(turn, Call)]
    assert calls(events) == [
        row for given in asked for row in (("asked", "search", given), ("completed", "search", search(**given)))
    ]
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    assert [(e["agent"], e["model"]) for e in answered] == [("finder", "script")] * 5
    assert all(e["tokens"] > 0 and e["latency_ms"] > 0 for e in answered)
    assert [(e["role"], e["text"]) for e in events if e["type"] == "message"] == [("user", "find it"), ("assistant", "7 m.")]
    assert types(events)[0] == "run_started" and types(events)[-1] == "run_completed"
    assert rules(server, "r") == []


def test_the_works_of_the_golden_table_have_its_verdicts(server: Server) -> None:
    """An error of a tool ends an agent of Pydantic AI. The model is told of a ModelRetry."""

    def told(one: Any) -> Any:
        @functools.wraps(one)
        def tool(*args: Any, **kwargs: Any) -> Any:
            try:
                return one(*args, **kwargs)
            except Exception as error:
                raise ModelRetry(f"{type(error).__name__}: {error}") from error

        return tool

    def play(id: str, steps: list[works.Step]) -> None:
        with serve(works.turns(steps), works.TOKENS) as api:
            provider = OpenAIProvider(api_key="none", base_url=api.url + "/v1")
            model = OpenAIChatModel("coder-2", provider=provider)
            tools = [told(one) for one in works.TOOLS]
            finder = Agent(model, name="finder", tools=tools, capabilities=[Unloop()], retries=50)
            finder.run_sync("find it", conversation_id=id)

    works.check(server, play)


def test_a_guarded_agent_is_nudged_then_blocked_then_stopped(server: Server, guard_bin: str) -> None:
    seen: list[Any] = []

    def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen[:] = [p.content for m in messages for p in m.parts if isinstance(p, ToolReturnPart)]
        return ModelResponse(parts=[ToolCallPart("search", {"query": "loops"})])

    guarded = Agent(FunctionModel(play), tools=[search], capabilities=[Unloop(unloop.AsyncGuard())])
    with pytest.raises(unloop.LoopError) as stopped:
        guarded.run_sync("find it", conversation_id="r")
    assert stopped.value.decision.halted
    assert seen[0] == "0 results"
    assert any(str(text).startswith("0 results [loop-guard] ") for text in seen)
    assert seen[-1]["loop_blocked"] is True
    rows = calls(told(server, "r"))
    assert {row[2] for row in rows if row[0] == "completed"} == {"0 results"}, "without the nudge"
    assert rows[-1][0] == "blocked"
    assert server.run("r")["status"] == "failed"
    assert rules(server, "r") == ["same_call_same_result"]


@pytest.mark.parametrize("wrong", [{"query": "x"}, {"question": "x"}])
def test_failures_that_the_model_is_told_of(server: Server, guard_bin: str, wrong: dict[str, Any]) -> None:
    """The tool asks to be called otherwise; or it does not run, as its arguments are refused."""

    def fails(query: str) -> str:
        raise ModelRetry("no such page")

    turns: list[Turn] = [*[Call("fails", wrong)] * 20, Say("done")]
    plain = Agent(script(turns), tools=[fails], capabilities=[Unloop()], retries=50)
    plain.run_sync("find it", conversation_id="plain")
    assert rules(server, "plain") == ["same_call_same_result"]
    assert {row[0] for row in calls(told(server, "plain"))} == {"asked", "failed"}

    guarded = Agent(script(turns), tools=[fails], capabilities=[Unloop(unloop.AsyncGuard())], retries=50)
    with pytest.raises(unloop.LoopError):
        guarded.run_sync("find it", conversation_id="guarded")
    assert rules(server, "guarded") == ["same_call_same_result"]


def test_results_that_are_more_than_text(server: Server, guard_bin: str) -> None:
    def finds(n: int) -> ToolReturn[dict[str, Any]]:
        return ToolReturn(return_value={"n": 0}, metadata="kept")

    turns: list[Turn] = [*[Call("finds", {"n": 1})] * 4, Say("done")]
    guarded = Agent(script(turns), tools=[finds], capabilities=[Unloop(unloop.AsyncGuard())])
    result = guarded.run_sync("find it", conversation_id="r")
    parts = [p for m in result.all_messages() for p in m.parts if isinstance(p, ToolReturnPart)]
    assert [p.metadata for p in parts] == ["kept"] * 4
    assert parts[0].content == {"n": 0}
    assert any("_loop_guard" in str(p.content) for p in parts)
    assert calls(told(server, "r"))[1] == ("completed", "finds", {"n": 0})


def test_an_agent_that_another_one_calls_is_in_its_run(server: Server) -> None:
    watch = Unloop()
    inner = Agent(script([Say("inner")]), name="inner", capabilities=[watch])

    async def ask(ctx: RunContext[None]) -> str:
        return (await inner.run("you")).output

    turns: list[Turn] = [Call("ask", {}), Call("transfer_to_clerk", {}), Say("outer")]
    outer = Agent(script(turns), name="outer", tools=[ask, transfer_to_clerk], capabilities=[watch])
    with unloop.trace("both", id="r"):
        asyncio.run(outer.run("find it"))
    events = told(server, "r")
    assert [run["id"] for run in server.runs()] == ["r"]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["outer", "inner", "outer", "outer"]
    assert [e["text"] for e in events if e["role"] == "user"] == ["find it"]
    assert [e["agent"] for e in events if e["type"] == "handoff_started"] == ["clerk"]
    assert calls(events) == [("asked", "ask", {}), ("completed", "ask", "inner")]


def transfer_to_clerk() -> str:
    return "done"


def test_streams_and_a_real_model_class(server: Server) -> None:
    async def streamed(model: OpenAIChatModel) -> str:
        finder = Agent(model, name="finder", tools=[search], capabilities=[Unloop()])
        async with finder.run_stream("find it", conversation_id="r") as result:
            return await result.get_output()

    with serve(HONEST) as api:
        provider = OpenAIProvider(base_url=api.url + "/v1", api_key="none")
        assert asyncio.run(streamed(OpenAIChatModel("coder-2", provider=provider))) == "7 m."
    events = told(server, "r")
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    parts = {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}
    assert [(e["tokens"], e["usage"]) for e in answered] == [(110, parts)] * 5
    assert len(calls(events)) == 8


def test_without_a_guard_to_ask_the_agent_goes_on_if_it_is_told_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNLOOP_BIN", str(tmp_path / "none"))
    assert agent(RUNAWAY, Unloop(unloop.AsyncGuard(on_missing="warn"))).run_sync("find it").output == "I give up."


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    for code in examples.blocks("docs/pydantic-ai.md"):
        with serve(RUNAWAY) as api:
            env = {"OPENAI_BASE_URL": api.url + "/v1", "OPENAI_API_KEY": "none", "UNLOOP_ENDPOINT": server.url}
            assert examples.run(code, tmp_path, **env).startswith("stopped: ")
    [one] = server.runs()
    assert rules(server, one["id"]) == ["same_call_same_result"]


@pytest.mark.parametrize("guarded", [False, True])
def test_a_tool_that_is_cancelled_has_failed(server: Server, guard_bin: str, guarded: bool) -> None:
    guard = unloop.AsyncGuard() if guarded else None

    async def main() -> dict[str, Any]:
        async def slow(query: str) -> str:
            running.cancel()
            await asyncio.Event().wait()
            return ""

        finder = Agent(script([Call("slow", {"query": "x"})]), name="finder", tools=[slow], capabilities=[Unloop(guard)])
        running = asyncio.ensure_future(finder.run("find it", conversation_id="r"))
        with pytest.raises(asyncio.CancelledError):
            await running
        return await guard.run("r").stats() if guard is not None else {}

    decisions = asyncio.run(main()).get("decisions")
    assert calls(told(server, "r")) == [("asked", "slow", {"query": "x"}), ("failed", "slow", "cancelled")]
    assert decisions == (3 if guarded else None), "of the prompt, and of the start and the end of the call"
