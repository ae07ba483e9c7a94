"""The OpenAI Agents SDK: what the server knows of its runs, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    Runner,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputImage,
    function_tool,
    set_trace_processors,
    set_tracing_disabled,
    trace,
)
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from openai import AsyncOpenAI

import examples
import unloop
import works
from adapters import calls, rules, told, types
from conftest import Server
from modelapi import HONEST, RUNAWAY, Call, ModelAPI, Say, Turn, search, serve
from unloop.openai_agents import LoopGuard, Recorder


@pytest.fixture(autouse=True)
def recorder() -> Iterator[None]:
    """The only processor: the SDK's own would send traces to OpenAI."""
    set_trace_processors([Recorder()])
    yield
    set_trace_processors([])


def model(api: ModelAPI, kind: Any = OpenAIResponsesModel) -> Any:
    client = AsyncOpenAI(api_key="none", base_url=api.url + "/v1")
    return kind(model="coder-2", openai_client=client)


def lookup() -> FunctionTool:
    """A tool of its own for each test: what guards it stays."""
    return function_tool(search)


def run(agent: Agent[Any], run: str = "r", **options: Any) -> Any:
    config = RunConfig(workflow_name="test", group_id=run, **options)
    return Runner.run_sync(agent, "find it", max_turns=50, run_config=config)


def outputs(result: Any) -> list[Any]:
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


kinds = pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])


@kinds
def test_a_runaway_agent_is_warned_of(server: Server, kind: Any) -> None:
    with serve(RUNAWAY) as api:
        result = run(Agent(name="Finder", model=model(api, kind), tools=[lookup()]))
    assert outputs(result) == ["0 results"] * 12
    assert rules(server, "r") == ["same_call_same_result"]


@kinds
@pytest.mark.parametrize("guarded", [False, True])
def test_an_honest_agent_is_told_of_as_it_is(server: Server, guard_bin: str, kind: Any, guarded: bool) -> None:
    with serve(HONEST) as api:
        agent = Agent(name="Finder", model=model(api, kind), tools=[lookup()])
        assert run(LoopGuard().protect(agent) if guarded else agent).final_output == "7 m."
    events = told(server, "r")
    asked = [{"query": turn.args["query"]} for turn in HONEST if isinstance(turn, Call)]
    assert calls(events) == [
        row for given in asked for row in (("asked", "search", given), ("completed", "search", search(**given)))
    ]
    assert types(events)[0] == "run_started" and types(events)[-1] == "run_completed"
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    parts = {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}
    assert [(e["agent"], e["tokens"], e["usage"]) for e in answered] == [("Finder", 110, parts)] * 5
    assert [e["text"] for e in events if e["type"] == "message"] == ["find it"]
    assert rules(server, "r") == []


@kinds
def test_the_works_of_the_golden_table_have_its_verdicts(server: Server, kind: Any) -> None:
    def play(id: str, steps: list[works.Step]) -> None:
        with serve(works.turns(steps), works.TOKENS) as api:
            run(Agent(name="Finder", model=model(api, kind), tools=[function_tool(one) for one in works.TOOLS]), id)

    works.check(server, play)


def test_a_guarded_agent_is_nudged_then_blocked_then_stopped(server: Server, guard_bin: str) -> None:
    ran = []

    @function_tool(name_override="search")
    def counted(query: str) -> str:
        """Looks something up."""
        ran.append(query)
        return search(query)

    with serve(RUNAWAY) as api:
        agent = LoopGuard().protect(Agent(name="Finder", model=model(api), tools=[counted]))
        with pytest.raises(ToolInputGuardrailTripwireTriggered) as stopped:
            run(agent)
        seen = [item["output"] for item in api.requests[-1]["input"] if item.get("type") == "function_call_output"]
    decision = stopped.value.output.output_info
    assert isinstance(decision, unloop.Decision) and decision.halted
    assert len(ran) < 10
    assert seen[0] == "0 results"
    assert any(text.startswith("0 results [loop-guard] ") for text in seen)
    assert '"loop_blocked":true' in seen[-1]
    events = told(server, "r")
    outcomes = [row[0] for row in calls(events) if row[0] != "asked"]
    assert outcomes == ["completed"] * len(ran) + ["blocked"] * (len(outcomes) - len(ran))
    results = {row[2] for row in calls(events) if row[0] == "completed"}
    assert results == {"0 results"}, "the server is told the tool's own result, without the nudge"
    assert events[-1]["type"] == "run_failed" and "Halted" in events[-1]["error"]
    assert rules(server, "r") == ["same_call_same_result"]


def test_failing_tools_and_structured_results(server: Server, guard_bin: str) -> None:
    @function_tool
    def fails(n: int) -> str:
        """Fails."""
        raise ValueError(f"no page {n}")

    @function_tool
    def finds(n: int) -> dict[str, Any]:
        """Finds a structure."""
        return {"n": n}

    turns: list[Turn] = [Call("fails", {"n": 1}), Call("finds", {"n": 2}), Say("done")]
    with serve(turns) as api:
        result = run(LoopGuard().protect(Agent(name="Finder", model=model(api), tools=[fails, finds])))
    assert outputs(result)[1] == {"n": 2}
    failed, found = calls(told(server, "r"))[1::2]
    assert failed == ("failed", "fails", outputs(result)[0]), "as the model is told of it"
    assert found == ("completed", "finds", {"n": 2})


def test_a_nudge_leaves_a_picture_a_picture(guard_bin: str) -> None:
    picture = ToolOutputImage(image_url="data:image/png;base64,AAAA")

    @function_tool
    def look(at: str) -> ToolOutputImage:
        """Looks."""
        return picture

    turns: list[Turn] = [*[Call("look", {"at": "it"})] * 4, Say("done")]
    with serve(turns) as api:
        result = run(LoopGuard().protect(Agent(name="Finder", model=model(api), tools=[look])))
    assert outputs(result) == [picture] * 4


def test_handoffs_agents_as_tools_and_streams(server: Server, guard_bin: str) -> None:
    async def streamed(agent: Agent[Any]) -> Any:
        result = Runner.run_streamed(agent, "find it", run_config=RunConfig(group_id="r"))
        async for _ in result.stream_events():
            pass
        return result.final_output

    turns: list[Turn] = [Call("transfer_to_finder", {}), Call("expert", {"input": "x"}), Say("inner"), Say("outer")]
    with serve(turns) as api:
        expert = Agent(name="Expert", model=model(api))
        finder = Agent(name="Finder", model=model(api), tools=[expert.as_tool("expert", "Knows.")])
        desk = LoopGuard().protect(Agent(name="Desk", model=model(api), handoffs=[finder]))
        assert finder.tools[0].tool_input_guardrails, "who is handed over to is guarded too"  # type: ignore[union-attr]
        assert asyncio.run(streamed(desk)) == "outer"
    events = told(server, "r")
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("Finder", {"from": "Desk"})]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["Desk", "Finder", "Expert", "Finder"]
    assert calls(events) == [("asked", "expert", {"input": "x"}), ("completed", "expert", "inner")]


def test_which_run_a_trace_belongs_to(server: Server) -> None:
    with serve([Say("a"), Say("b"), Say("c"), Say("d")]) as api:
        agent = Agent(name="Finder", model=model(api))
        run(agent, "conversation")
        run(agent, "conversation")
        with unloop.trace("outer", id="outer"):
            run(agent, "ignored")
        with trace("workflow") as own:
            Runner.run_sync(agent, "find it")
    assert types(told(server, "conversation")).count("run_started") == 2
    assert {r["id"] for r in server.runs()} == {"conversation", "outer", own.trace_id}


def test_runs_without_a_trace_are_guarded_each_by_itself(guard_bin: str) -> None:
    guard, tool = LoopGuard(), lookup()
    set_tracing_disabled(True)
    try:
        for _ in range(3):
            with serve([*[Call("search", {"query": "loops"})] * 2, Say("done")]) as api:
                result = run(guard.protect(Agent(name="Finder", model=model(api), tools=[tool])))
            assert outputs(result) == ["0 results"] * 2
    finally:
        set_tracing_disabled(False)


def test_without_a_guard_to_ask_the_agent_goes_on_if_it_is_told_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNLOOP_BIN", str(tmp_path / "none"))
    with serve(RUNAWAY) as api:
        guard = LoopGuard(unloop.AsyncGuard(on_missing="warn"))
        assert run(guard.protect(Agent(name="Finder", model=model(api), tools=[lookup()]))).final_output == "I give up."


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    printed = []
    for code in examples.blocks("docs/openai-agents.md"):
        with serve(RUNAWAY) as api:
            env = {"OPENAI_BASE_URL": api.url + "/v1", "OPENAI_API_KEY": "none", "UNLOOP_ENDPOINT": server.url}
            code = "import agents; agents.set_trace_processors([])\n" + code.removeprefix("\n")  # no export to OpenAI
            printed.append(examples.run(code, tmp_path, **env))
    assert [text.partition(":")[0] for text in printed] == ["stopped", ""]
    [one] = server.runs()
    assert rules(server, one["id"]) == ["same_call_same_result"]
