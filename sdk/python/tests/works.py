"""The works of the golden table, which the tests of all adapters share, also those in TypeScript and Go: what a scripted model
does, and the verdict of a server on it. sdk/testdata/works.json has both."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from collections.abc import Callable
from typing import Any

import unloop
from adapters import METER
from conftest import ROOT, Server, until
from modelapi import Call, Calls, Say, Tokens, Turn

Step = list[tuple[str, dict[str, Any]]]  # calls that a model wants at once
TOKENS = Tokens(10, 5)  # of each model call


@dataclasses.dataclass
class Work:
    """What a scripted model does, and what a server says of it by each profile."""

    steps: list[Step]
    verdicts: dict[str, dict[str, Any]]


def _works() -> dict[str, Work]:
    table = json.loads((ROOT / "sdk/testdata/works.json").read_text(encoding="utf-8"))
    steps = {work["name"]: [[(call["tool"], call["args"]) for call in step] for step in work["steps"]] for work in table}
    return {work["name"]: Work(steps[work["name"]], work["verdicts"]) for work in table}


WORKS = _works()


def turns(steps: list[Step]) -> list[Turn]:
    """The script of a model that does a work."""
    return [*(Calls([Call(tool, args) for tool, args in step]) for step in steps), Say("I give up.")]


def check(
    server: Server,
    play: Callable[[str, list[Step]], object],
    works: dict[str, Work] = WORKS,
    run_id: Callable[[str], str] = str,
    prefix: str = "",
) -> None:
    """Plays works, and compares the verdicts of a server, and of a scan of its events, with the table.

    The server has the profile "default". The scan judges by all profiles.
    """
    runs = {run_id(f"work-{number}"): work for number, work in enumerate(works.values())}
    for run, work in runs.items():
        play(run, work.steps)
    assert unloop.flush(20)
    assert {run: verdict(server, run, prefix) for run in runs} == {run: work.verdicts["default"] for run, work in runs.items()}
    for profile in ("default", "looplens"):
        expected = {run: without_status(work.verdicts[profile]) for run, work in runs.items()}
        assert scanned(server, list(runs), profile, prefix) == expected, profile


def of_tools(*names: str) -> dict[str, Work]:
    """The works that use no other tools."""
    return {name: work for name, work in WORKS.items() if all(tool in names for step in work.steps for tool, _ in step)}


def repeats(work: Work) -> bool:
    """Whether a work has equal calls."""
    calls = [json.dumps(call) for step in work.steps for call in step]
    return len(set(calls)) < len(calls)


COUNTS = ("total_tool_calls", "total_llm_calls", "total_handoffs", "total_tokens")


def verdict(server: Server, run: str, prefix: str = "") -> dict[str, Any]:
    """What a server says of a run that has ended, as far as it is the same for all who tell of it, without a prefix of tools."""
    until(lambda: (server.run(run) or {}).get("ended_at") is not None)
    found = _found(server.warnings(run), server.get(f"/api/runs/{run}/metrics"), prefix)
    return {**found, "status": server.run(run)["status"]}


def scanned(server: Server, runs: list[str], profile: str, prefix: str) -> dict[str, dict[str, Any]]:
    """What `unloop scan` says of the same runs by a profile. It has no status."""
    events = b"".join(_unloop(server, "export", "--endpoint", server.url, run) for run in runs)
    lines = _unloop(server, "scan", "--format", "json", "--profile", profile, "-", given=events).splitlines()
    verdicts = map(json.loads, lines)
    return {one["run_id"]: _found(one["warnings"], one["metrics"], prefix) for one in verdicts}


def without_status(verdict: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in verdict.items() if name != "status"}


def _found(warnings: list[dict[str, Any]], metrics: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The progress meter also weighs what agents say, which not all of them tell."""
    told = sorted([w["type"], w["subject"].replace(prefix, ""), w["count"]] for w in warnings if w["type"] != METER)
    return {"warnings": told, **{name: metrics[name] for name in COUNTS}}


def _unloop(server: Server, *args: str, given: bytes = b"") -> bytes:
    done = subprocess.run([server.program, *args], input=given, capture_output=True)
    assert done.returncode in (0, 1), done.stderr.decode()  # 1: a scan found loops
    return done.stdout


def search(query: str) -> str:
    """Searches the archive.

    Args:
        query: what is searched
    """
    return "one letter, of 1911"


def read(page: int) -> str:
    """Reads a page of the diary.

    Args:
        page: its number
    """
    return f"page {page}: " + " ".join(f"word{page * 31 + n}" for n in range(12))


def fetch(url: str) -> str:
    """Fetches a page of the web.

    Args:
        url: its address
    """
    raise ConnectionError("the host does not answer")


def find_letter(query: str) -> str:
    """Searches where nothing is.

    Args:
        query: what is searched
    """
    return "No results found."


def borrow(book: str) -> str:
    """Borrows a book, or says why not.

    Args:
        book: its title
    """
    raise ValueError("the library is closed")


TOOLS: list[Callable[..., str]] = [search, read, fetch, find_letter, borrow]
