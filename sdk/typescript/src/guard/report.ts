// Reports the decisions of a guard to the server that records the run, so that its page shows them.

import { observedRun } from "../run.js";
import type { Decision, Finding } from "./decision.js";
import type { RunState } from "./transport.js";

const BY = "TypeScript";

/**
 * Records the decision in the run with the guard's id, if this process records it, and returns the decision. The first report of a run
 * says that it is guarded. Later ones tell of decisions other than "allow".
 */
export function report(state: RunState, decision: Decision): Decision {
  const run = observedRun(state.name);
  if (!run || !decision.guarded) return decision;
  const action = decision.shadow || decision.action;
  if (action === "allow" && state.reported === run) return decision;
  state.reported = run;
  const { code, message, count, findings } = decision;
  const told = action === "allow" ? {} : { action, code, message, count, ...(findings[0] && describe(findings[0])) };
  run.event("guard_decision", { metadata: { guard: { by: BY, ...told, ...(decision.shadow && { shadow: true }) } } });
  return decision;
}

/** Returns the rule and the subject of a finding, and the number of events from the first that belongs to it to the last. */
function describe({ rule, subject, event, first }: Finding): Record<string, unknown> {
  const span = numberOf(event) - numberOf(first) + 1;
  return { rule, subject, ...(span >= 0 && { span }) };
}

/** Returns the number of an event, or NaN. */
function numberOf(event: unknown): number {
  return Number((event as { number?: unknown } | undefined)?.number);
}
