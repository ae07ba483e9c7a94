"""The examples of docs/langgraph.md run as they stand there."""

from __future__ import annotations

from pathlib import Path

import examples
from conftest import Server

MY_AGENT = """
from langchain_agents import Script, call, say, search

model = Script(lines=[call("search", query="the lost letter")] * 14 + [say("I give up.")])
"""


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    observed, joined, guarded, raising, tools = examples.blocks("docs/langgraph.md")
    (tmp_path / "my_agent.py").write_text(MY_AGENT)
    assert examples.run(observed, tmp_path, UNLOOP_ENDPOINT=server.url) == ""
    assert "same_call_same_result" in [w["type"] for w in server.warnings("thread-7")]

    assert examples.run(joined, tmp_path, UNLOOP_ENDPOINT=server.url) == ""
    (loop,) = (run for run in server.runs() if run["name"] == "archivist" and run["id"] != "thread-7")
    types = [e["type"] for e in server.events(loop["id"])]
    assert (types.count("run_started"), types.count("llm_call_completed"), types.count("tool_call_completed")) == (1, 2, 2)

    assert examples.run(guarded, tmp_path).startswith("[loop-guard] Halted: ")
    assert examples.run(raising, tmp_path).startswith("halted Halted: ")
    assert examples.run(tools, tmp_path) == ""
