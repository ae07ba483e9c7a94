"""Runs published detectors and unloop over judged runs, and prints a table in Markdown.

usage: compare.py SECONDS DECISIONS RUNS.jsonl…

SECONDS is the CPU time that each detector may take; runs that it does not reach in that time are left out of its row. DECISIONS are
those of unloop, as the program in compare/unloop writes them.
"""

import hashlib
import json
import os
import platform
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from datetime import date
from functools import partial
from importlib.metadata import version
from io import StringIO
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # a library of openhands-sdk would fetch a list of prices

from detectors import DETECTORS
from runs import Decisions, Run, Verdict, read
from score import score


def decide(name: str, runs: list[Run], seconds: float) -> Decisions:
    """Has a detector decide about the runs that it reaches in so many seconds of CPU time."""
    decisions = Decisions(name, version(name))
    for run in runs:
        if decisions.seconds > seconds:
            break
        detector = DETECTORS[name](run)
        flags = []
        began = time.process_time()
        with redirect_stdout(StringIO()):  # a detector prints what it finds
            for at, entry in enumerate(run.entries):
                verdict = detector.add(entry)
                if verdict is not Verdict.NONE:
                    flags.append((at, verdict))
        decisions.seconds += time.process_time() - began
        decisions.steps += len(run.entries)
        decisions.by_run[run.id] = flags
    return decisions


def ours(path: Path) -> Decisions:
    """Reads the decisions of unloop."""
    with path.open(encoding="utf-8") as lines:
        head = json.loads(next(lines))
        decisions = Decisions(f"unloop, profile {head['profile']}", head["version"], steps=head["steps"], seconds=head["seconds"])
        for line in lines:
            run = json.loads(line)
            decisions.by_run[run["id"]] = [(at, Verdict(verdict)) for at, verdict in run["decisions"] or []]
    return decisions


def row(decisions: Decisions, runs: list[Run]) -> tuple[float, str]:
    """F1 of a detector, and its line of the table."""
    reached = [run for run in runs if run.id in decisions.by_run]
    s = score(reached, decisions)
    delay = "–" if s.delay is None else f"{s.delay:g}"
    return s.f1, (
        f"| {decisions.name} | {decisions.version} | {len(reached)} | {share(s.found, s.stretches)} | {share(s.stopped, s.stretches)}"
        f" | {share(s.false_flags, s.clean)} | {share(s.false_stops, s.clean)} | {share(s.elsewhere, s.with_stretches)}"
        f" | {s.f1:.2f} | {delay} | {decisions.seconds / decisions.steps * 1e6:,.0f} |"
    )


def share(count: int, of: int) -> str:
    """A count of a base, and the percentage."""
    return f"{count} of {of} ({count / of:.0%})" if of else "–"


def main() -> None:
    runs = list(read([Path(path) for path in sys.argv[3:]]))
    if not runs:
        sys.exit("no run has labels.stuck")
    runs.sort(key=lambda run: hashlib.sha256(run.id.encode()).digest())  # so that a part of them is a sample
    with ProcessPoolExecutor() as pool:
        others = pool.map(partial(decide, runs=runs, seconds=float(sys.argv[1])), sorted(DETECTORS))
        rows = sorted((row(decisions, runs) for decisions in others), reverse=True)
    print(f"{date.today()}, Python {platform.python_version()}.\n")
    print("| detector | version | runs | found | stopped | clean, flagged | clean, stopped | flagged elsewhere | F1 | delay | µs a step |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for _, line in [row(ours(Path(sys.argv[2])), runs), *rows]:
        print(line)


if __name__ == "__main__":
    main()
