"""Runs published detectors and unloop over judged runs, and prints a table in Markdown.

usage: compare.py DECISIONS RUNS.jsonl…

DECISIONS are those of unloop, as the program in compare/unloop writes them.
"""

import json
import os
import platform
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # a library of openhands-sdk would fetch a list of prices

from detectors import DETECTORS
from runs import Decisions, Run, Verdict, read
from score import Score, score


def decide(name: str, runs: list[Run]) -> Decisions:
    """Has a detector decide about all runs."""
    decisions = Decisions(name, version(name))
    for run in runs:
        detector = DETECTORS[name](run)
        flags = []
        began = time.process_time()
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


def row(decisions: Decisions, s: Score) -> str:
    """One line of the table."""
    delay = "–" if s.delay is None else f"{s.delay:g}"
    return (
        f"| {decisions.name} | {decisions.version} | {s.found} ({s.recall:.0%}) | {s.stopped} | {s.false_flags} ({s.false_flags / s.clean:.1%})"
        f" | {s.false_stops} | {s.elsewhere} | {s.f1:.2f} | {delay} | {decisions.seconds / decisions.steps * 1e6:,.1f} |"
    )


def main() -> None:
    runs = list(read([Path(path) for path in sys.argv[2:]]))
    if not runs:
        sys.exit("no run has labels.stuck")
    scored = []
    for decisions in [ours(Path(sys.argv[1]))] + [decide(name, runs) for name in sorted(DETECTORS)]:
        print(decisions.name, file=sys.stderr)
        scored.append((decisions, score(runs, decisions)))
    first = scored[0][1]
    print(f"{len(runs)} runs, {first.stretches} stretches, {first.clean} clean runs, {first.with_stretches} runs with stretches.")
    print(f"{date.today()}, Python {platform.python_version()}.\n")
    print("| detector | version | found | stopped | clean runs flagged | clean runs stopped | flagged elsewhere | F1 | delay | µs a step |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for decisions, s in scored[:1] + sorted(scored[1:], key=lambda pair: -pair[1].f1):
        print(row(decisions, s))


if __name__ == "__main__":
    main()
