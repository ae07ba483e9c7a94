// The verdict on a run, as a sentence.
import type { RunSummary, Warning } from "../api/names";
import { detailsOf } from "../api/names";
import { actionTaken } from "./decisions";
import { count, dollars, plural } from "./numbers";
import { title } from "./texts";

const weights: Record<string, number> = { critical: 3, warning: 2, info: 1 };

/** worst returns the most severe warning. Ties: the longest loop. */
export function worst(warnings: readonly Warning[]): Warning | null {
  let best: Warning | null = null;
  for (const w of warnings) if (best === null || rank(w) > rank(best)) best = w;
  return best;
}

/** bySeverity orders warnings: the most severe first, then the longest loops. The first is the one that the verdict names. */
export function bySeverity(a: Warning, b: Warning): number {
  return rank(b) - rank(a);
}

function rank(w: Warning): number {
  const period = detailsOf(w).period ?? 1;
  return (weights[w.severity] ?? 0) * 1e6 + Math.min((w.count ?? 0) * period, 1e5);
}

export function verdictOf(run: RunSummary, warnings: readonly Warning[]): string {
  const w = worst(warnings);
  if (run.guarded_by !== null && run.stopped) return `${stoppedByGuard(run)}${w === null ? "" : ` ${title(loop(w))}.`} ${avoided(run)}`.trim();
  if (w === null) return withoutWarning(run);
  return `This run ${stateOf(run)}: ${loop(w)}. ${run.guarded_by === null && run.stopped ? wasted(run) : [nudged(run), usageAfter(run)].filter(Boolean).join(" ")}`.trim();
}

/** stateOf says with the word of the health what the agent does, or did in a run that has ended. A run that a guard stops or would stop loops. */
function stateOf(run: RunSummary): string {
  const running = run.status === "running";
  if (run.loop_health_status === "stuck") return running ? "is stuck in a loop" : "was stuck in a loop";
  if (run.loop_health_status === "looping" || run.stopped) return running ? "loops" : "looped";
  return running ? "repeats steps" : "repeated steps";
}

/** stoppedByGuard says what the guard did: "Halted by the guard after 7 repeats." */
function stoppedByGuard(run: RunSummary): string {
  const what = run.worst_decision === "halt" ? "Halted" : "Calls were blocked";
  return `${what} by the guard${run.stopped_after === null ? "" : ` after ${plural(run.stopped_after, "repeat")}`}.`;
}

/** avoided says what the stop saved, or "". */
function avoided(run: RunSummary): string {
  const list = usageList(run.avoided);
  return list === "" ? "" : `Saved by unloop: about ${list} (estimate).`;
}

/** wasted says what an observed run used since the profile would have stopped it. */
function wasted(run: RunSummary): string {
  const list = usageList(run.wasted);
  const what = `A guard ${actionTaken(run.worst_decision, false)} ${run.worst_decision === "halt" ? "it" : "a call"}`;
  return list === "" ? `${what}.` : `${what}. Used since then: ${list}.`;
}

/** nudged says that the agent was nudged, or would have been; "" without a decision. */
function nudged(run: RunSummary): string {
  if (run.worst_decision !== "warn") return "";
  return run.guarded_by === null ? "A guard would have nudged it." : "The guard nudged it.";
}

interface Usage { calls: number; tokens: number; cost: number }

/** usageWithout formats usage besides one figure, which stands beside it. */
export const usageWithout = (figure: keyof Usage, usage: Usage): string => usageList({ ...usage, [figure]: 0 });

/** usageList formats usage: "3 calls, 1,200 tokens and $0.05". It is "" for none. */
export function usageList(usage: Usage): string {
  const parts: string[] = [];
  if (usage.calls > 0) parts.push(plural(usage.calls, "call"));
  if (usage.tokens > 0) parts.push(`${count(usage.tokens)} tokens`);
  if (usage.cost > 0) parts.push(dollars(usage.cost));
  return parts.length <= 1 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** loop describes the loop of a warning: "cycle of 3 steps, 6 times". */
function loop(w: Warning): string {
  const period = detailsOf(w).period ?? 1;
  if (w.type === "stalled_steps" && w.count !== null) return plural(w.count, "stalled step");
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

/** usageAfter describes the usage since the first warning, or "". A stop at that warning would have saved it. */
function usageAfter(run: RunSummary): string {
  const list = usageList({ calls: run.calls_after_warning, tokens: run.tokens_after_warning, cost: run.cost_after_warning });
  return list === "" ? "" : `Usage since the first warning: ${list}.`;
}
