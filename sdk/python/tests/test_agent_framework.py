"""The Microsoft Agent Framework: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient

import unloop
from adapters import calls, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, Turn, search, serve
from unloop.agent_framework import unloop_middleware


def finder(api: ModelAPI, tools: list[Any], middleware: list[Any], name: str = "finder") -> Agent[Any]:
    client = OpenAIChatCompletionClient(model="coder-2", api_key="none", base_url=api.url + "/v1")
    client.function_invocation_configuration["include_detailed_errors"] = True
    client.function_invocation_configuration["max_consecutive_errors_per_request"] = 50
    return Agent(client, name=name, description="finds", tools=tools, middleware=middleware)


class TestAgentFramework(AdapterSuite):
    name = "agent-framework"

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        middleware = unloop_middleware(unloop.AsyncGuard(on_missing="warn") if guarded else None)

        async def main() -> str:
            agent = finder(api, tools, middleware)
            return (await agent.run("find it", session=agent.create_session(session_id=run))).text

        return asyncio.run(main())


@pytest.mark.parametrize("guarded", [False, True])
def test_a_streamed_run_is_recorded_and_stopped(server: Server, guard_bin: str, guarded: bool) -> None:
    async def main(api: ModelAPI) -> None:
        agent = finder(api, [search], unloop_middleware(unloop.AsyncGuard() if guarded else None))
        async for _ in agent.run("find it", stream=True):
            pass

    turns: list[Turn] = [*[Call("search", {"query": "loops"})] * (12 if guarded else 2), Say("done")]
    with serve(turns) as api:
        if guarded:
            with pytest.raises(unloop.LoopError):
                asyncio.run(main(api))
        else:
            asyncio.run(main(api))
    assert unloop.flush()
    [run] = server.runs()
    events = server.events(run["id"])
    assert types(events)[-1] == ("run_failed" if guarded else "run_completed")
    assert calls(events)[-1][0] == ("blocked" if guarded else "completed")


def test_an_agent_as_a_tool_belongs_to_the_run_of_its_caller(server: Server) -> None:
    async def main(api: ModelAPI) -> None:
        middleware = unloop_middleware()
        helper = finder(api, [], middleware, "helper")
        agent = finder(api, [helper.as_tool(name="ask", arg_name="question")], middleware)
        await agent.run("find it", session=agent.create_session(session_id="r"))

    with serve([Call("ask", {"question": "x"}), Say("inner"), Say("outer")]) as api:
        asyncio.run(main(api))
    events = told(server, "r")
    assert [run["id"] for run in server.runs()] == ["r"]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["finder", "helper", "finder"]
    assert calls(events) == [("asked", "ask", {"question": "x"}), ("completed", "ask", "inner")]


def test_a_cancelled_tool_leaves_the_next_agent_a_run_of_its_own(server: Server) -> None:
    """The tool and both agents are in one task, as within asyncio.timeout()."""

    async def slow(query: str) -> str:
        """Looks something up, until it is cancelled."""
        raise asyncio.CancelledError

    async def main(api: ModelAPI) -> None:
        agent = finder(api, [slow], unloop_middleware())
        with pytest.raises(asyncio.CancelledError):
            await agent.run("find it", session=agent.create_session(session_id="first"))
        assert unloop.current_run() is None
        await agent.run("find it", session=agent.create_session(session_id="second"))

    with serve([Call("slow", {"query": "x"}), Say("done")]) as api:
        asyncio.run(main(api))
    first = told(server, "first")
    assert calls(first) == [("asked", "slow", {"query": "x"}), ("failed", "slow", "cancelled")]
    assert types(first)[-1] == "run_failed"
    assert types(told(server, "second"))[-1] == "run_completed"
