// A run's verdict in one sentence.
import type { RunSummary, Warning } from "../api/names";
import { detailsOf } from "../api/names";
import { count, dollars, plural } from "./numbers";
import { title } from "./texts";

const weights: Record<string, number> = { critical: 3, warning: 2, info: 1 };

/** worst returns the warning that tells most: the most severe one, and among those the longest loop. */
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
  if (w === null) return quiet(run);
  const stuck = run.loop_health_status === "Likely stuck" || run.worst_decision === "halt" || run.worst_decision === "block";
  const what = stuck ? "This run goes round in circles" : "This run repeats itself";
  return `${tense(what, run)}: ${loop(w)}. ${after(run)}`;
}

/** loop names the loop that a warning is about: "cycle of 3 steps, 6 times". */
function loop(w: Warning): string {
  const period = detailsOf(w).period ?? 1;
  return `${title(w.type).toLowerCase()}${period > 1 ? ` of ${period} steps` : ""}${(w.count ?? 0) > 1 ? `, ${count(w.count!)} times` : ""}`;
}

function tense(what: string, run: RunSummary): string {
  return run.status === "running" ? what : what.replace("goes", "went").replace("repeats", "repeated");
}

function quiet(run: RunSummary): string {
  const events = plural(run.event_count, "event");
  switch (run.status) {
    case "running":
      return `No loop so far, in ${events}.`;
    case "failed":
      return `The run failed, but not by a loop: there is no warning in ${events}.`;
    default:
      return `No loop in ${events}.`;
  }
}

/** after says what it took since the first warning: what stopping there would have saved. */
function after(run: RunSummary): string {
  const parts: string[] = [];
  if (run.calls_after_warning > 0) parts.push(plural(run.calls_after_warning, "call"));
  if (run.tokens_after_warning > 0) parts.push(`${count(run.tokens_after_warning)} tokens`);
  if (run.cost_after_warning > 0) parts.push(dollars(run.cost_after_warning));
  if (parts.length === 0) return "Nothing was spent since the first warning.";
  const list = parts.length === 1 ? parts[0] : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
  const one = parts.length === 1 && run.calls_after_warning === 1;
  const still = run.status !== "running" ? "went" : one ? "has gone" : "have gone";
  return `Since the first warning, ${list} ${still} into it.`;
}
