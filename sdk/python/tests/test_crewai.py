# ruff: noqa: E402, I001
"""CrewAI: what the server knows of its crews, and how they are nudged and stopped. It runs in an environment of its own:
requirements-crewai.txt."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

for name in ("CREWAI_DISABLE_TELEMETRY", "CREWAI_DISABLE_TRACKING", "OTEL_SDK_DISABLED"):
    os.environ[name] = "true"  # before the import
os.environ["CREWAI_TRACING_ENABLED"] = "false"

import examples
import pytest
from adapters import calls, rules, told, types
from conftest import Server
from crewai import LLM, Agent, BaseLLM, Crew, Process, Task
from crewai.flow.flow import Flow, start
from crewai.hooks import HookAborted
from crewai.tools import tool
from modelapi import HONEST, RUNAWAY, Call, ModelAPI, Say, Turn, search, serve

import unloop
import works
from unloop.crewai import Listener

Listen = Callable[..., Listener]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CrewAI keeps things below the user's folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CREWAI_STORAGE_DIR", str(tmp_path / "crewai"))


@pytest.fixture
def listen() -> Iterator[Listen]:
    listeners: list[Listener] = []

    def listen(guard: unloop.Guard | None = None) -> Listener:
        listeners.append(Listener(guard))
        return listeners[-1]

    yield listen
    for listener in listeners:
        listener.close()


def agent(api: ModelAPI, role: str = "Finder", tools: Any = None, **options: Any) -> Agent:
    model = LLM(model="openai/coder-2", base_url=api.url + "/v1", api_key="none")
    return Agent(role=role, goal="find", backstory="-", llm=model, tools=tools or [], max_iter=50, cache=False, **options)


def crew(finder: Agent, *others: Agent, **options: Any) -> Crew:
    task = Task(description="find it", expected_output="it", agent=finder)
    return Crew(name="archive", agents=[finder, *others], tasks=[task], cache=False, **options)


@tool("search")
def lookup(query: str) -> str:
    """Looks something up."""
    return search(query)


@tool("fails")
def fails(query: str) -> str:
    """Fails."""
    raise ValueError("no such page")


def only_run(server: Server) -> str:
    assert unloop.flush()
    [run] = server.runs()
    id: str = run["id"]
    return id


def test_a_runaway_crew_is_warned_of(server: Server, listen: Listen) -> None:
    """With nobody to nudge it, CrewAI's own count ends it after five equal calls."""
    listen()
    with serve(RUNAWAY) as api, pytest.raises(Exception, match="5 times"):
        crew(agent(api, tools=[lookup])).kickoff()
    run = only_run(server)
    assert rules(server, run) == ["same_call_same_result"]
    assert server.run(run)["status"] == "failed"


@pytest.mark.parametrize("guarded", [False, True])
def test_an_honest_crew_is_told_of_as_it_is(server: Server, guard_bin: str, listen: Listen, guarded: bool) -> None:
    listen(unloop.Guard() if guarded else None)
    with serve(HONEST) as api:
        assert str(crew(agent(api, tools=[lookup])).kickoff()) == "7 m."
    run = only_run(server)
    events = told(server, run)
    asked = [{"query": turn.args["query"]} for turn in HONEST if isinstance(turn, Call)]
    assert calls(events) == [
        row for given in asked for row in (("asked", "search", given), ("completed", "search", search(**given)))
    ]
    answered = [e for e in events if e["type"] == "llm_call_completed"]
    parts = {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}
    assert [(e["agent"], e["tokens"], e["usage"]) for e in answered] == [("Finder", 110, parts)] * 5
    assert types(events)[0] == "run_started" and types(events)[-1] == "run_completed"
    assert events[0]["name"] == "archive"
    assert rules(server, run) == []


def test_works_of_the_golden_table_have_its_verdicts(server: Server, listen: Listen) -> None:
    """Without those that repeat an equal call, which CrewAI itself ends."""
    listen()

    def play(id: str, steps: list[works.Step]) -> None:
        tools = [tool(one.__name__)(one) for one in works.TOOLS]
        with serve(works.turns(steps), works.TOKENS) as api, unloop.trace("archive", id=id):
            crew(agent(api, tools=tools)).kickoff()

    works.check(server, play, {name: work for name, work in works.WORKS.items() if not works.repeats(work)})


def test_a_guarded_crew_is_nudged_then_blocked_then_stopped(server: Server, guard_bin: str, listen: Listen) -> None:
    listen(unloop.Guard())
    with serve(RUNAWAY) as api:
        with pytest.raises(HookAborted) as stopped:
            crew(agent(api, tools=[lookup])).kickoff()
        seen = [m["content"] for m in api.requests[-1]["messages"] if m["role"] == "tool"]
    assert isinstance(stopped.value.__cause__, unloop.LoopError)
    assert stopped.value.__cause__.decision.halted
    assert seen[0] == "0 results"
    assert any(text.startswith("0 results [loop-guard] ") for text in seen)
    assert '"loop_blocked":true' in seen[-1]
    run = only_run(server)
    rows = calls(told(server, run))
    assert {row[2] for row in rows if row[0] == "completed"} == {"0 results"}, "without the nudge"
    assert rows[-1][0] == "blocked"
    assert server.run(run)["status"] == "failed"
    assert rules(server, run) == ["same_call_same_result"]


def test_failing_tools(server: Server, listen: Listen) -> None:
    listen()
    turns: list[Turn] = [Call("fails", {"query": "x"}), Say("done")]
    with serve(turns) as api:
        crew(agent(api, tools=[fails])).kickoff()
    [_, failed] = calls(told(server, only_run(server)))
    assert failed == ("failed", "fails", "Error executing tool: no such page")


class Thinker(BaseLLM):
    """A model without tool calls of its own: it writes them down, and CrewAI reads them."""

    def call(self, *args: Any, **kwargs: Any) -> str:
        return 'Thought: again\nAction: search\nAction Input: {"query": "loops"}'

    def supports_function_calling(self) -> bool:
        return False


def test_tool_calls_that_are_read_from_a_text(server: Server, guard_bin: str, listen: Listen) -> None:
    listen(unloop.Guard())
    thinker = Agent(
        role="Thinker", goal="-", backstory="-", llm=Thinker(model="thinker"), tools=[lookup], max_iter=50, cache=False
    )
    with pytest.raises(HookAborted):
        crew(thinker).kickoff()
    run = only_run(server)
    rows = calls(told(server, run))
    assert rows[:2] == [("asked", "search", {"query": "loops"}), ("completed", "search", "0 results")]
    assert rows[-1][0] == "blocked"
    assert "same_call_same_result" in rules(server, run)


def test_delegation_is_a_handoff(server: Server, listen: Listen) -> None:
    listen()
    asked = {"task": "look", "context": "all", "coworker": "Helper"}
    turns: list[Turn] = [Call("delegate_work_to_coworker", asked), Say("found"), Say("done")]
    with serve(turns) as api:
        crew(agent(api, allow_delegation=True), agent(api, "Helper"), process=Process.sequential).kickoff()
    events = told(server, only_run(server))
    assert [(e["agent"], e["metadata"]) for e in events if e["type"] == "handoff_started"] == [("Helper", {"from": "Finder"})]
    assert [row[0] for row in calls(events)] == ["asked", "completed"]


def test_which_run_a_crew_belongs_to(server: Server, listen: Listen) -> None:
    listen()

    class Whole(Flow):  # type: ignore[type-arg]
        @start()
        def work(self) -> str:
            return str(crew(agent(api)).kickoff())

    with serve([Say("a"), Say("b"), Say("c"), Say("d")]) as api:
        one = crew(agent(api))
        one.kickoff()
        one.kickoff()
        with unloop.trace("outer", id="outer"):
            one.kickoff()
        Whole().kickoff()
    assert unloop.flush()
    runs = {run["id"]: run["name"] for run in server.runs()}
    assert sorted(runs.values()) == ["Whole", "archive", "archive", "outer"]
    assert all(types(server.events(run)).count("llm_call_completed") == 1 for run in runs)
    assert all(run["status"] == "completed" for run in server.runs())


def test_an_agent_without_a_crew_is_a_run_too(server: Server, guard_bin: str, listen: Listen) -> None:
    listen(unloop.Guard())
    with serve(RUNAWAY) as api, pytest.raises(HookAborted):
        agent(api, tools=[lookup]).kickoff("find it")
    run = only_run(server)
    assert rules(server, run) == ["same_call_same_result"]
    assert server.run(run)["status"] == "failed"


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    for code in examples.blocks("docs/crewai.md"):
        with serve(RUNAWAY) as api:
            env = {"OPENAI_BASE_URL": api.url + "/v1", "OPENAI_API_KEY": "none", "UNLOOP_ENDPOINT": server.url}
            assert "stopped: " in examples.run(code, tmp_path, **env)
    [one] = server.runs()
    assert rules(server, one["id"]) == ["same_call_same_result"]
