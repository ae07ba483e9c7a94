"""Traces that frameworks write themselves, as `unloop scan` reads them: one loop, its counts and its tokens."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Runner, Span, Trace, TracingProcessor, function_tool, set_trace_processors
from agents.models.openai_chatcompletions import OpenAIChatCompletionsModel
from agents.models.openai_responses import OpenAIResponsesModel
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langsmith._internal._serde import dumps_json
from openai import AsyncOpenAI

from adapters import METER
from langchain_agents import call, researcher, say
from modelapi import RUNAWAY, search, serve


def scan(unloop_bin: str, path: Path) -> dict[str, Any]:
    """Returns the verdict on the only run of a file."""
    scanned = subprocess.run([unloop_bin, "scan", "-f", "json", str(path)], capture_output=True, text=True)
    assert scanned.returncode in (0, 1), scanned.stderr
    [line] = scanned.stdout.splitlines()
    verdict: dict[str, Any] = json.loads(line)
    return verdict


def found(verdict: dict[str, Any]) -> list[tuple[str, int]]:
    return [(warning["type"], warning["count"]) for warning in verdict["warnings"] if warning["type"] != METER]


class Lines(TracingProcessor):
    """Writes what the SDK's exporter would post, a line for each trace and span."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, item: Trace | Span[Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(item.export()) + "\n")

    def on_trace_start(self, trace: Trace) -> None:
        self.write(trace)

    def on_trace_end(self, trace: Trace) -> None: ...

    def on_span_start(self, span: Span[Any]) -> None: ...

    def on_span_end(self, span: Span[Any]) -> None:
        self.write(span)

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


@pytest.fixture
def lines(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "trace.jsonl"
    set_trace_processors([Lines(path)])
    yield path
    set_trace_processors([])


@pytest.mark.parametrize("kind", [OpenAIResponsesModel, OpenAIChatCompletionsModel])
def test_a_trace_of_the_openai_agents_sdk(unloop_bin: str, lines: Path, kind: Any) -> None:
    with serve(RUNAWAY) as api:
        model = kind(model="coder-2", openai_client=AsyncOpenAI(api_key="none", base_url=api.url + "/v1"))
        Runner.run_sync(Agent(name="Finder", model=model, tools=[function_tool(search)]), "find it", max_turns=50)
    verdict = scan(unloop_bin, lines)
    assert (verdict["format"], verdict["steps"], found(verdict)) == ("openai-agents", 12, [("same_call_same_result", 12)])
    assert verdict["metrics"]["total_tokens"] == 13 * 110
    assert verdict["metrics"]["most_active_agent"] == "Finder"


def test_a_tree_of_runs_of_langchain(unloop_bin: str, tmp_path: Path) -> None:
    collector = RunCollectorCallbackHandler()
    agent = researcher([*[call("search", query="the lost letter")] * 12, say("I give up.")])
    config: Any = {"callbacks": [collector], "metadata": {"thread_id": "t"}, "recursion_limit": 50}
    agent.invoke({"messages": [("user", "find it")]}, config)
    path = tmp_path / "run.json"
    path.write_bytes(dumps_json(tree(collector.traced_runs[0])))
    verdict = scan(unloop_bin, path)
    assert (verdict["format"], verdict["run_id"], verdict["steps"]) == ("langsmith", "t", 12)
    assert found(verdict) == [("same_call_same_result", 12)]
    assert verdict["metrics"]["total_tokens"] == 13 * 15


def tree(run: Any) -> dict[str, Any]:
    """Returns a run with its children, by the names that LangSmith stores."""
    names = ["id", "name", "run_type", "start_time", "end_time", "extra", "error", "inputs", "outputs", "trace_id"]
    return {**{name: getattr(run, name) for name in names}, "child_runs": [tree(child) for child in run.child_runs]}
