"""Google ADK: what the server knows of its agents, and how they are nudged and stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from google.adk.agents import BaseAgent, LlmAgent, LoopAgent
from google.adk.apps import App
from google.adk.models.google_llm import Gemini
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner
from google.adk.tools.agent_tool import AgentTool
from google.genai import types as genai

import unloop
from adapters import calls, rules, told, types
from adaptersuite import AdapterSuite
from conftest import Server
from modelapi import Call, ModelAPI, Say, Turn, search, serve
from unloop.google_adk import UnloopPlugin


class Forgiving(ReflectAndRetryToolPlugin):
    """Tells the model of a tool's failure."""

    async def on_tool_error_callback(self, *, error: Exception, **kwargs: Any) -> dict[str, Any]:
        return {"error": str(error)}


def model(api: ModelAPI) -> Gemini:
    return Gemini(model="coder-2", base_url=api.url)


def finder(api: ModelAPI, tools: list[Any], **options: Any) -> LlmAgent:
    return LlmAgent(name="finder", model=model(api), tools=tools, **options)


def run(agent: BaseAgent, plugin: UnloopPlugin, run: str) -> str:
    """Has an agent find it, and returns its last text."""

    async def main() -> str:
        app = App(name="archive", root_agent=agent, plugins=[plugin, Forgiving(name="forgiving")])
        async with InMemoryRunner(app=app) as runner:
            await runner.session_service.create_session(app_name="archive", user_id="u", session_id=run)
            message = genai.Content(role="user", parts=[genai.Part(text="find it")])
            said = ""
            async for event in runner.run_async(user_id="u", session_id=run, new_message=message):
                said = "".join(part.text or "" for part in (event.content.parts or [])) if event.content else said
            return said

    return asyncio.run(main())


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "none")


class TestGoogleADK(AdapterSuite):
    name = "google-adk"

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], name: str, guarded: bool) -> str:
        return run(finder(api, tools), UnloopPlugin(unloop.AsyncGuard(on_missing="warn") if guarded else None), name)

    def environment(self, api: ModelAPI) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": api.url, "GOOGLE_API_KEY": "none"}


def test_a_transfer_is_a_handoff(server: Server) -> None:
    turns: list[Turn] = [Call("transfer_to_agent", {"agent_name": "helper"}), Say("found")]
    with serve(turns) as api:
        helper = LlmAgent(name="helper", description="helps", model=model(api))
        run(finder(api, [], sub_agents=[helper]), UnloopPlugin(), "r")
    events = told(server, "r")
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("helper", {"from": "finder"})]
    assert [e["agent"] for e in events if e["type"] == "llm_call_completed"] == ["finder", "helper"]
    assert calls(events) == []


def test_an_agent_as_a_tool_belongs_to_the_run_of_its_caller(server: Server) -> None:
    def note(text: str) -> str:
        """Notes."""
        unloop.event("message", role="system", text=text)
        return "noted"

    turns: list[Turn] = [Call("helper", {"request": "help"}), Call("note", {"text": "inside"}), Say("inner"), Say("outer")]
    with serve(turns) as api:
        helper = LlmAgent(name="helper", description="helps", model=model(api), tools=[note])
        assert run(finder(api, [AgentTool(helper)]), UnloopPlugin(), "r") == "outer"
    events = told(server, "r")
    assert [run["id"] for run in server.runs()] == ["r"]
    assert types(events).count("run_started") == types(events).count("run_completed") == 1
    assert calls(events) == [
        ("asked", "helper", {"request": "help"}),
        ("asked", "note", {"text": "inside"}),
        ("completed", "note", "noted"),
        ("completed", "helper", "inner"),
    ]
    assert ("system", "inside") in [(e["role"], e["text"]) for e in events if e["type"] == "message"]


def test_a_halt_ends_a_loop_agent(server: Server, guard_bin: str) -> None:
    turns: list[Turn] = [Call("search", {"query": "loops"}), Say("again")] * 20
    with serve(turns) as api:
        again = LoopAgent(name="again", sub_agents=[finder(api, [search])], max_iterations=20)
        with pytest.raises(RuntimeError) as stopped:
            run(again, UnloopPlugin(unloop.AsyncGuard()), "r")
    assert isinstance(stopped.value.__cause__, unloop.LoopError)
    assert rules(server, "r") == ["same_call_same_result"]
