// What is said of decisions. A guard acts and reports it; in an observed run nobody acts, so the words say what would have happened.
import type { RunSummary } from "../api/names";

/** The names of the actions. The API names the nudge "warn". */
export const actionNames: Record<string, string> = { allow: "none", warn: "nudge", block: "block", halt: "halt" };

const done: Record<string, string> = { warn: "nudged", block: "blocked", halt: "halted" };

/** actionTaken returns what a decision came to: "blocked", or "would have blocked". It is "" for allow. */
export function actionTaken(action: string, byGuard: boolean): string {
  const word = done[action];
  if (word === undefined) return "";
  return byGuard ? word : `would have ${word}`;
}

/** worstOf returns what the most severe decision of a run came to, or "". */
export function worstOf(run: RunSummary): string {
  return actionTaken(run.worst_decision, run.guarded_by !== null);
}

/** watchedBy returns the badge of a run: who guards it, or that it is only observed. */
export function watchedBy(run: RunSummary): string {
  if (run.guarded_by !== null) return `guarded by ${run.guarded_by}`;
  return run.shadowed_by === null ? "observed" : `observed, ${run.shadowed_by} in shadow mode`;
}

/** guardOf returns what the guard that an event is from did, or "". */
export function guardOf(metadata: unknown): string {
  const guard = (metadata as { guard?: { by?: unknown; action?: unknown; shadow?: unknown } } | null)?.guard;
  if (typeof guard?.by !== "string") return "";
  return `${actionTaken(String(guard.action), guard.shadow !== true)} by ${guard.by}`.trim();
}

/** The assumption behind figures of what guards avoided. */
export const avoidedAssumption = "Estimate: without the stop, the loop would have continued for as many events as it had lasted, at the rate of the run.";
