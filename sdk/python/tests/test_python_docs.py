"""The examples of docs/python.md run as they stand there."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import examples
from conftest import ROOT, Server
from unloop._settings import Settings

PAGE = "docs/python.md"


def test_the_examples_of_the_page_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    observed, tasks, decorated, by_hand = examples.blocks(PAGE)
    assert examples.run(observed, tmp_path, UNLOOP_ENDPOINT=server.url) == ""
    warning = next(w for w in server.warnings("nightly-12") if w["type"] == "same_call_same_result")
    assert (warning["type"], warning["count"], server.run("nightly-12")["project"]) == ("same_call_same_result", 5, "research")

    assert examples.run(tasks, tmp_path, UNLOOP_ENDPOINT=server.url) == "True 0\n"
    assert [run["name"] for run in server.runs()].count("writer") == 2

    said = examples.run(decorated, tmp_path).splitlines()
    assert said[0] == "0 {'hits': []}"
    assert "You may be going round in circles" in said[2]
    assert any(line.startswith("halted Halted: ") for line in said)

    assert examples.run(by_hand, tmp_path) == "allow True {'hits': []}\n"


def test_the_example_of_the_tutorial_runs(guard_bin: str, tmp_path: Path) -> None:
    [code] = examples.blocks("docs/first-loop.md")
    said = examples.run(code, tmp_path).splitlines()
    assert said[:2] == ["{'hits': []}"] * 2
    assert "You may be going round in circles" in said[2]
    assert any(line.startswith("Halted: ") for line in said)


def test_every_setting_is_on_the_page_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `UNLOOP_(\w+)` \| `(\w+)` \|", (ROOT / PAGE).read_text(), re.MULTILINE))
    assert {name.lower(): name2 for name, name2 in rows.items() if name != "DISABLED"} == {
        field.name: field.name for field in fields(Settings) if field.name != "enabled"
    }
    assert rows["DISABLED"] == "enabled"


def test_the_examples_of_the_readme_run(server: Server, guard_bin: str, tmp_path: Path) -> None:
    observed, guarded = examples.blocks("sdk/python/README.md")
    assert examples.run(observed + guarded, tmp_path, UNLOOP_ENDPOINT=server.url) == ""
    assert [run["name"] for run in server.runs()] == ["answer a question"]
