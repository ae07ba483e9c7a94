"""The tests that every adapter passes. A subclass plays a scripted model in its framework, with real clients of model APIs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

import examples
import unloop
import works
from adapters import calls, rules, told, types
from conftest import ROOT, Server
from modelapi import HONEST, RUNAWAY, Call, Calls, ModelAPI, Say, Tokens, Turn, search, serve


class AdapterSuite:
    """Play is what differs between the frameworks. An example and a page have the name of the adapter."""

    name: ClassVar[str]
    agent = "finder"  # the name of the agent, as events have it
    profiles: ClassVar[list[str]] = ["default", "looplens"]  # that judge the golden works
    prefix = ""  # what the framework puts before the names of tools
    usage: ClassVar[dict[str, int]] = {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}

    def play(self, api: ModelAPI, tools: list[Callable[..., str]], run: str, guarded: bool) -> str:
        """Has an agent with the tools find it, and returns its answer. A halt raises LoopError, or an error caused by one."""
        raise NotImplementedError

    def environment(self, api: ModelAPI) -> dict[str, str]:
        """The variables with which the page's code reaches the model API."""
        return {"OPENAI_BASE_URL": api.url + "/v1", "OPENAI_API_KEY": "none"}

    def answer(self, text: str) -> Turn:
        """The model's last turn."""
        return Say(text)

    def run_id(self, name: str) -> str:
        """The id of the run that play is given: the framework may allow only some."""
        return name

    def results(self, api: ModelAPI) -> list[str]:
        """The results of tools in the last request to the model API."""
        return results(api)

    def answered(self, count: int) -> list[dict[str, int]]:
        """The usage of each model call, as the framework tells it."""
        return [self.usage] * count

    def turns(self, turns: list[Turn]) -> list[Turn]:
        """A script as the framework's model has it."""
        called = [Call(self.prefix + turn.tool, turn.args) if isinstance(turn, Call) else turn for turn in turns]
        return [self.answer(turn.text) if isinstance(turn, Say) else turn for turn in called]

    def test_a_runaway_agent_is_warned_of(self, server: Server) -> None:
        run = self.run_id("r")
        with serve(self.turns(RUNAWAY)) as api:
            assert self.play(api, [search], run, False) == "I give up."
            assert self.results(api) == ["0 results"] * 12
        assert rules(server, run) == ["same_call_same_result"]

    @pytest.mark.parametrize("guarded", [False, True])
    def test_an_honest_agent_is_recorded_as_it_is(self, server: Server, guard_bin: str, guarded: bool) -> None:
        run = self.run_id("r")
        with serve(self.turns(HONEST)) as api:
            assert self.play(api, [search], run, guarded) == "7 m."
        events, name = told(server, run), self.prefix + "search"
        asked = [{"query": turn.args["query"]} for turn in HONEST if isinstance(turn, Call)]
        assert calls(events) == [row for args in asked for row in (("asked", name, args), ("completed", name, search(**args)))]
        answered = [e for e in events if e["type"] == "llm_call_completed"]
        assert [(e["agent"], e["usage"]) for e in answered] == [(self.agent, usage) for usage in self.answered(5)]
        assert sum(e["tokens"] for e in answered) == 5 * 110
        assert [(e["role"], e["text"]) for e in events if e["type"] == "message"] == [("user", "find it"), ("assistant", "7 m.")]
        assert types(events)[0] == "run_started" and types(events)[-1] == "run_completed"
        assert rules(server, run) == []

    def test_a_guarded_agent_is_nudged_then_blocked_then_stopped(self, server: Server, guard_bin: str) -> None:
        run = self.run_id("r")
        with serve(self.turns(RUNAWAY)) as api:
            with pytest.raises(Exception, match="Halted") as stopped:
                self.play(api, [search], run, True)
            seen, asked = self.results(api), json.dumps(api.requests[-1])
        halt = stopped.value if isinstance(stopped.value, unloop.LoopError) else stopped.value.__cause__
        assert isinstance(halt, unloop.LoopError) and halt.decision.halted
        assert seen[0] == "0 results"
        assert "You may be going round in circles" in asked, "the nudge"
        rows = calls(told(server, run))
        assert {row[2] for row in rows if row[0] == "completed"} == {"0 results"}, "without the nudge"
        assert rows[-1][0] == "blocked"
        assert server.run(run)["status"] == "failed"
        assert rules(server, run) == ["same_call_same_result"]

    def test_the_works_of_the_golden_table_have_its_verdicts(self, make_server: Callable[..., Server]) -> None:
        for profile in self.profiles:
            server = make_server("--profile", profile).start()
            unloop.configure(endpoint=server.url)
            runs = {name: self.run_id(f"work-{number}") for number, name in enumerate(works.WORKS)}
            for name, run in runs.items():
                wanted = [[Call(self.prefix + tool, args) for tool, args in step] for step in works.WORKS[name].steps]
                with serve([*map(Calls, wanted), self.answer("I give up.")], Tokens(*works.TOKENS)) as api:
                    self.play(api, works.TOOLS, run, False)
            assert unloop.flush()
            verdicts = {name: works.verdict(server, run, self.prefix) for name, run in runs.items()}
            assert verdicts == {name: work.verdicts[profile] for name, work in works.WORKS.items()}, profile

    def test_a_failing_tool_is_nudged_then_stopped(self, server: Server, guard_bin: str) -> None:
        turns: list[Turn] = [*[Call("fetch", {"url": "https://archive.example"})] * 12, Say("I give up.")]
        run = self.run_id("r")
        with serve(self.turns(turns)) as api:
            with pytest.raises(Exception, match="Halted"):
                self.play(api, works.TOOLS, run, True)
            assert "the host does not answer" in self.results(api)[0]
            assert "[loop-guard]" in json.dumps(api.requests[-1])
        assert {row[0] for row in calls(told(server, run))} == {"asked", "failed", "blocked"}

    def test_without_a_guard_to_ask_the_agent_goes_on_if_it_is_told_to(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("UNLOOP_BIN", str(tmp_path / "none"))
        with serve(self.turns(RUNAWAY)) as api:
            assert self.play(api, [search], self.run_id("r"), True) == "I give up."

    def test_the_code_of_the_page_runs(self, server: Server, guard_bin: str, tmp_path: Path) -> None:
        for code in examples.blocks(f"docs/{self.name}.md"):
            with serve(self.turns(RUNAWAY)) as api:
                assert "stopped: Halted" in examples.run(code, tmp_path, UNLOOP_ENDPOINT=server.url, **self.environment(api))
        [run] = server.runs()
        assert rules(server, run["id"]) == ["same_call_same_result"]

    def test_the_example_runs_without_keys(self, server: Server, guard_bin: str, tmp_path: Path) -> None:
        code = (ROOT / f"examples/python/{self.name.replace('-', '_')}_agent.py").read_text(encoding="utf-8")
        assert "stopped: Halted" in examples.run(code, tmp_path, UNLOOP_ENDPOINT=server.url)
        [run] = server.runs()
        assert rules(server, run["id"]) == ["same_call_same_result"]


def results(api: ModelAPI) -> list[str]:
    """Returns the results of tools in the last request to a model API, as texts."""
    body = api.requests[-1]
    if "contents" in body:  # Gemini's
        parts = [
            part["functionResponse"]["response"] for c in body["contents"] for part in c["parts"] if "functionResponse" in part
        ]
        return [_text(part.get("result", part)) for part in parts]
    if "input" in body:  # OpenAI's responses
        return [_text(item["output"]) for item in body["input"] if item.get("type") == "function_call_output"]
    found = [_text(message["content"]) for message in body["messages"] if message["role"] == "tool"]
    blocks = [
        part for m in body["messages"] if isinstance(m.get("content"), list) for part in m["content"] if isinstance(part, dict)
    ]
    return found + [_text(part["content"]) for part in blocks if part.get("type") == "tool_result"]


def _text(result: Any) -> str:
    if isinstance(result, list) and all(isinstance(part, dict) and "text" in part for part in result):
        return "\n".join(part["text"] for part in result)
    return result if isinstance(result, str) else json.dumps(result)
