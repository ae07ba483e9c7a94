"""smolagents: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from smolagents import CodeAgent, LogLevel, OpenAIModel, ToolCallingAgent, tool

import unloop
from adapters import calls, rules, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, Turn, search, serve
from unloop.smolagents import Unloop


def model(api: ModelAPI) -> OpenAIModel:
    return OpenAIModel("coder-2", api_base=api.url + "/v1", api_key="none")


def finder(api: ModelAPI, tools: list[Any], **options: Any) -> ToolCallingAgent:
    return ToolCallingAgent(tools=tools, model=model(api), name="finder", max_steps=50, verbosity_level=LogLevel.OFF, **options)


class TestSmolagents(AdapterSuite):
    name = "smolagents"
    usage = {"input_tokens": 100, "output_tokens": 10}  # noqa: RUF012

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        agent = finder(api, [tool(one) for one in tools])
        guard = unloop.Guard(on_missing="warn") if guarded else None
        with unloop.trace("finder", id=run):
            return str(Unloop(guard).protect(agent).run("find it"))

    def results(self, api: ModelAPI) -> list[str]:
        """smolagents gives the model observations as texts."""
        parts = [part["text"] for m in api.requests[-1]["messages"] for part in m["content"] if "text" in part]
        return [part.partition(":\n")[2] for part in parts if part.startswith(("Observation:", "Error:"))]

    def answer(self, text: str) -> Turn:
        return Call("final_answer", {"answer": text})


def test_each_task_is_a_run_and_streams_too(server: Server) -> None:
    with serve([Call("final_answer", {"answer": "a"}), Call("final_answer", {"answer": "b"})]) as api:
        agent = Unloop().protect(finder(api, []))
        assert agent.run("find it") == "a"
        assert list(agent.run("find more", stream=True))[-1].output == "b"
    assert unloop.flush()
    assert len(server.runs()) == 2
    for run in server.runs():
        assert types(server.events(run["id"])) == [
            "run_started",
            "message",
            "llm_call_started",
            "llm_call_completed",
            "message",
            "run_completed",
        ]


def test_a_managed_agent_belongs_to_the_run_of_its_manager(server: Server, guard_bin: str) -> None:
    turns: list[Turn] = [Call("helper", {"task": "help"}), *[Call("search", {"query": "loops"})] * 20]
    with serve(turns) as api:
        helper = ToolCallingAgent(
            tools=[tool(search)],
            model=model(api),
            name="helper",
            description="Helps.",
            max_steps=50,
            verbosity_level=LogLevel.OFF,
        )
        manager = Unloop(unloop.Guard()).protect(finder(api, [], managed_agents=[helper]))
        with pytest.raises(unloop.LoopError):
            manager.run("find it")
    assert unloop.flush()
    [run] = server.runs()
    events = server.events(run["id"])
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("helper", {"from": "finder"})]
    assert {e["agent"] for e in events if e["type"] == "tool_call_started"} == {"helper"}
    assert rules(server, run["id"]) == ["same_call_same_result"]
    assert run["status"] == "failed"


def test_a_code_agent_is_nudged_in_its_observations_and_stopped(server: Server, guard_bin: str) -> None:
    @tool  # type: ignore[untyped-decorator]
    def pages(query: str) -> list[str]:
        """Lists pages.

        Args:
            query: the question
        """
        return []

    code = "Thought: again\n<code>\nfor page in pages(query='loops'):\n    print(page)\n</code>"
    with serve([Say(code)] * 20) as api:
        agent = CodeAgent(tools=[pages], model=model(api), name="coder", max_steps=20, verbosity_level=LogLevel.OFF)
        with pytest.raises(unloop.LoopError), unloop.trace("coder", id="r"):
            Unloop(unloop.Guard()).protect(agent).run("find it")
        asked = str(api.requests[-1])
    assert "You may be going round in circles" in asked
    rows = calls(told(server, "r"))
    assert rows[:2] == [("asked", "pages", {"query": "loops"}), ("completed", "pages", [])]
    assert rows[-1][0] == "blocked"
