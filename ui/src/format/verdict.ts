// The verdict on a run, as a sentence.
import type { RunSummary, Warning } from "../api/names";
import { detailsOf } from "../api/names";
import { count, dollars, plural } from "./numbers";
import { title } from "./texts";

const weights: Record<string, number> = { critical: 3, warning: 2, info: 1 };

/** worst returns the most severe warning. Ties: the longest loop. */
export function worst(warnings: readonly Warning[]): Warning | null {
  let best: Warning | null = null;
  for (const w of warnings) if (best === null || rank(w) > rank(best)) best = w;
  return best;
}

function rank(w: Warning): number {
  const period = detailsOf(w).period ?? 1;
  return (weights[w.severity] ?? 0) * 1e6 + Math.min((w.count ?? 0) * period, 1e5);
}

export function verdictOf(run: RunSummary, warnings: readonly Warning[]): string {
  const w = worst(warnings);
  if (w === null) return withoutWarning(run);
  const stuck = run.loop_health_status === "Likely stuck" || run.worst_decision === "halt" || run.worst_decision === "block";
  const running = run.status === "running";
  const what = stuck ? (running ? "is stuck in a loop" : "was stuck in a loop") : running ? "repeats steps" : "repeated steps";
  return `This run ${what}: ${loop(w)}. ${usageAfter(run)}`;
}

/** loop describes the loop of a warning: "cycle of 3 steps, 6 times". */
function loop(w: Warning): string {
  const period = detailsOf(w).period ?? 1;
  return `${title(w.type).toLowerCase()}${period > 1 ? ` of ${period} steps` : ""}${(w.count ?? 0) > 1 ? `, ${count(w.count!)} times` : ""}`;
}

function withoutWarning(run: RunSummary): string {
  const events = plural(run.event_count, "event");
  switch (run.status) {
    case "running":
      return `No loop in ${events} so far.`;
    case "failed":
      return `The run failed. No loop in ${events}.`;
    default:
      return `No loop in ${events}.`;
  }
}

/** usageAfter describes the usage since the first warning. A stop at that warning would have saved it. */
function usageAfter(run: RunSummary): string {
  const parts: string[] = [];
  if (run.calls_after_warning > 0) parts.push(plural(run.calls_after_warning, "call"));
  if (run.tokens_after_warning > 0) parts.push(`${count(run.tokens_after_warning)} tokens`);
  if (run.cost_after_warning > 0) parts.push(dollars(run.cost_after_warning));
  if (parts.length === 0) return "No usage since the first warning.";
  const list = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  return `Usage since the first warning: ${list}.`;
}
