"""Reports the decisions of a guard to the server that records the run, so that its page shows them."""

from __future__ import annotations

import contextlib
from typing import Any

from .._run import observed_run
from ._decision import Decision
from ._orders import listen
from ._transport import RunState, Transport

BY = "Python"


def report(run_state: RunState, transport: Transport, decision: Decision) -> Decision:
    """Records the decision in the run with the guard's id, if this process records it, and returns the decision.

    The first report of a run says that it is guarded; from then on, people can give it orders. Later ones report decisions other
    than "allow".
    """
    run = observed_run(run_state.name)
    if run is None or not decision.guarded:
        return decision
    action = decision.shadow or decision.action
    if action == "allow" and run_state.reported is run:
        return decision
    if run_state.reported is not run:
        listen(run_state, transport)
    run_state.reported = run
    fields: dict[str, Any] = {"by": BY}
    if action != "allow":
        fields |= {"action": action, "code": decision.code, "message": decision.message, "count": decision.count}
        if decision.findings:
            fields |= _finding(decision.findings[0])
    if decision.shadow:
        fields["shadow"] = True
    run.event("guard_decision", metadata={"guard": fields})
    return decision


def _finding(finding: dict[str, Any]) -> dict[str, Any]:
    """Returns the rule and the subject of a finding, and the number of events from the first that belongs to it to the last."""
    report = {"rule": finding.get("rule", ""), "subject": finding.get("subject", "")}
    with contextlib.suppress(KeyError, TypeError):
        report["span"] = max(0, finding["event"]["number"] - finding["first"]["number"] + 1)
    return report
