"""Strands Agents: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.multiagent import Swarm

import unloop
from adapters import calls, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, serve
from unloop.strands import UnloopHooks


def agent(api: ModelAPI, tools: list[Any], hooks: list[Any], name: str = "finder", run: str = "r") -> Agent:
    model = OpenAIModel(client_args={"api_key": "none", "base_url": api.url + "/v1"}, model_id="coder-2")
    session = {"session.id": run}
    return Agent(name=name, model=model, tools=tools, hooks=hooks, callback_handler=None, trace_attributes=session)


class TestStrands(AdapterSuite):
    name = "strands"
    usage = {"input_tokens": 100, "output_tokens": 10}  # noqa: RUF012

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        hooks = UnloopHooks(unloop.AsyncGuard(on_missing="warn") if guarded else None)
        return str(agent(api, [tool(one) for one in tools], [hooks], run=run)("find it")).strip()


def test_an_agent_as_a_tool_belongs_to_the_run_of_its_caller(server: Server) -> None:
    hooks = UnloopHooks()
    with serve([Call("ask", {"question": "x"}), Say("inner"), Say("outer")]) as api:

        @tool
        def ask(question: str) -> str:
            """Asks a helper."""
            return str(agent(api, [], [hooks], "helper", "other")(question)).strip()

        agent(api, [ask], [hooks])("find it")
    events = told(server, "r")
    assert [run["id"] for run in server.runs()] == ["r"]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["finder", "helper", "finder"]
    assert calls(events) == [("asked", "ask", {"question": "x"}), ("completed", "ask", "inner")]


def test_a_swarm_is_one_run_and_its_handoffs_are_handoffs(server: Server) -> None:
    hooks = UnloopHooks()
    over = {"agent_name": "helper", "message": "help", "context": {}}
    with serve([Call("handoff_to_agent", over), Say("over"), Say("found")]) as api:
        Swarm([agent(api, [], [hooks]), agent(api, [], [hooks], "helper")], hooks=[hooks])("find it")
    assert unloop.flush()
    [run] = server.runs()
    events = server.events(run["id"])
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("helper", {"from": "finder"})]
    assert types(events).count("run_started") == types(events).count("run_completed") == 1


def test_an_agent_without_a_session_is_one_run(server: Server) -> None:
    with serve([Say("a"), Say("b"), Say("c")]) as api:
        one = agent(api, [], [UnloopHooks()], run="")
        one("find it")
        asyncio.run(one.invoke_async("find more"))
        agent(api, [], [UnloopHooks()], run="")("find it")
    assert unloop.flush()
    assert sorted(types(server.events(run["id"])).count("llm_call_completed") for run in server.runs()) == [1, 2]


def test_a_model_that_fails_fails_the_run(server: Server) -> None:
    with serve([]) as api, pytest.raises(Exception):  # noqa: B017, PT011
        agent(api, [], [UnloopHooks()])("find it")
    events = told(server, "r")
    assert types(events)[-2:] == ["llm_call_failed", "run_failed"]
    assert events[-1]["error"] == events[-2]["error"]
