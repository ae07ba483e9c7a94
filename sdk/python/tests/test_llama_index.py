"""LlamaIndex: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from llama_index.llms.openai import OpenAI

import unloop
from adapters import calls, rules, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, Turn, search, serve
from unloop.llama_index import Unloop


def model(api: ModelAPI) -> OpenAI:
    return OpenAI(model="gpt-4.1", api_key="none", api_base=api.url + "/v1", max_retries=0)


def finder(api: ModelAPI, tools: list[Any], **options: Any) -> FunctionAgent:
    return FunctionAgent(name="finder", tools=tools, llm=model(api), **options)


class TestLlamaIndex(AdapterSuite):
    name = "llama-index"

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        watched = Unloop(unloop.AsyncGuard(on_missing="warn") if guarded else None)

        async def main() -> str:
            agent = watched.protect(finder(api, [FunctionTool.from_defaults(one) for one in tools]))
            with unloop.trace("finder", id=run):
                return str(await agent.run("find it", max_iterations=50))

        return asyncio.run(main())

    def environment(self, api: ModelAPI) -> dict[str, str]:
        return {"OPENAI_API_BASE": api.url + "/v1", "OPENAI_API_KEY": "none"}


def test_a_context_is_a_run(server: Server) -> None:
    async def main(api: ModelAPI) -> None:
        agent = Unloop().protect(finder(api, []))
        context = Context(agent)
        for _ in range(2):
            await agent.run("find it", ctx=context)
        await agent.run("find it")

    with serve([Say("a"), Say("b"), Say("c")]) as api:
        asyncio.run(main(api))
    assert unloop.flush()
    ended = [types(server.events(run["id"])) for run in server.runs()]
    assert sorted((t.count("run_started"), t.count("run_completed"), t.count("llm_call_completed")) for t in ended) == [
        (1, 1, 1),
        (2, 2, 2),
    ]


def test_a_program_that_ends_with_the_stream_has_completed_its_run(server: Server) -> None:
    async def main(api: ModelAPI) -> None:
        async for _ in Unloop().protect(finder(api, [search])).run("find it").stream_events():
            pass

    with serve([Call("search", {"query": "tides"}), Say("a")]) as api:
        asyncio.run(main(api))
    assert unloop.flush(20)
    [run] = server.runs()
    assert run["status"] == "completed"


def test_a_halt_fails_the_run_and_ends_the_workflow(server: Server, guard_bin: str) -> None:
    async def main(api: ModelAPI) -> None:
        await Unloop(unloop.AsyncGuard()).protect(finder(api, [search])).run("find it", max_iterations=50)

    with serve([Call("search", {"query": "loops"})] * 12) as api, pytest.raises(unloop.LoopError):
        asyncio.run(main(api))
    assert unloop.flush()
    [run] = server.runs()
    assert run["status"] == "failed"
    assert "Halted" in server.events(run["id"])[-1]["error"]


def test_agents_of_a_workflow_hand_over(server: Server) -> None:
    turns: list[Turn] = [Call("handoff", {"to_agent": "helper", "reason": "x"}), Call("look", {"query": "tides"}), Say("found")]

    async def look(ctx: Context, query: str) -> str:
        """Looks something up, with the workflow's context."""
        await ctx.store.set("looked", query)
        return search(query)

    look.__annotations__ = {"ctx": Context, "query": str, "return": str}  # LlamaIndex does not read those that are texts

    async def main(api: ModelAPI) -> str:
        first = finder(api, [], description="finds", can_handoff_to=["helper"])
        helper = FunctionAgent(name="helper", description="helps", tools=[look], llm=model(api))
        return str(await Unloop().protect(AgentWorkflow(agents=[first, helper], root_agent="finder")).run("find it"))

    with serve(turns) as api:
        assert asyncio.run(main(api)) == "found"
    assert unloop.flush()
    [run] = server.runs()
    events = server.events(run["id"])
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("helper", {"from": "finder"})]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["finder", "helper", "helper"]
    assert calls(events) == [("asked", "look", {"query": "tides"}), ("completed", "look", search("tides"))]


def test_an_agent_that_reads_its_calls_from_texts(server: Server, guard_bin: str) -> None:
    async def main(api: ModelAPI) -> None:
        agent = ReActAgent(name="thinker", tools=[search], llm=model(api))
        with unloop.trace("thinker", id="r"):
            await Unloop(unloop.AsyncGuard()).protect(agent).run("find it", max_iterations=50)

    again = Say('Thought: again\nAction: search\nAction Input: {"query": "loops"}')
    with serve([again] * 12) as api, pytest.raises(unloop.LoopError):
        asyncio.run(main(api))
    rows = calls(told(server, "r"))
    assert rows[:2] == [("asked", "search", {"query": "loops"}), ("completed", "search", "0 results")]
    assert "same_call_same_result" in rules(server, "r")


@pytest.mark.parametrize("guarded", [False, True])
def test_a_tool_that_is_cancelled_has_failed(server: Server, guard_bin: str, guarded: bool) -> None:
    async def slow(query: str) -> str:
        """Looks something up, until it is cancelled."""
        started.set()
        await asyncio.Event().wait()
        return ""

    started = asyncio.Event()

    async def main(api: ModelAPI) -> None:
        agent = Unloop(unloop.AsyncGuard() if guarded else None).protect(finder(api, [FunctionTool.from_defaults(async_fn=slow)]))
        with unloop.trace("finder", id="r"):
            running = agent.run("find it")
            await started.wait()
            await running.cancel_run()

    with serve([Call("slow", {"query": "x"})]) as api:
        asyncio.run(main(api))
    assert calls(told(server, "r")) == [("asked", "slow", {"query": "x"}), ("failed", "slow", "cancelled")]
