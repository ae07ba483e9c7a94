"""The measures of judged runs, as unloop eval computes them."""

import statistics
from dataclasses import dataclass

from runs import Decisions, Run, Verdict

FOUND_WITHIN = 3  # entries behind the end of a stretch in which a flag still finds it
EXCUSE_WITHIN = 6  # entries behind the end of a stretch in which a flag is not false


@dataclass
class Score:
    """How the decisions of a detector agree with the readers."""

    stretches: int = 0
    found: int = 0
    stopped: int = 0
    clean: int = 0
    false_flags: int = 0
    false_stops: int = 0
    with_stretches: int = 0
    elsewhere: int = 0  # runs with stretches and a flag outside of all of them
    delays: list[int] | None = None

    @property
    def precision(self) -> float:
        called = self.found + self.false_flags + self.elsewhere
        return self.found / called if called else 0.0

    @property
    def recall(self) -> float:
        return self.found / self.stretches if self.stretches else 0.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0

    @property
    def delay(self) -> float | None:
        """The median of the entries from the onset of a stretch to the first flag in it."""
        return statistics.median(self.delays) if self.delays else None


def score(runs: list[Run], decisions: Decisions) -> Score:
    """Scores decisions about runs."""
    total = Score(delays=[])
    assert total.delays is not None
    for run in runs:
        flags = decisions.by_run.get(run.id, [])
        stops = [at for at, verdict in flags if verdict is Verdict.STOP]
        for stretch in run.agreed:
            total.stretches += 1
            first = next((at for at, _ in flags if stretch.onset <= at <= stretch.end + FOUND_WITHIN), None)
            if first is not None:
                total.found += 1
                total.delays.append(first - stretch.onset)
            total.stopped += any(stretch.onset <= at <= stretch.end + FOUND_WITHIN for at in stops)
        if run.agreed or run.borderline:
            total.with_stretches += 1
            total.elsewhere += any(not _excused(run, at) for at, _ in flags)
        else:
            total.clean += 1
            total.false_flags += bool(flags)
            total.false_stops += bool(stops)
    return total


def _excused(run: Run, at: int) -> bool:
    return any(s.onset <= at <= s.end + EXCUSE_WITHIN for s in run.agreed + run.borderline)
