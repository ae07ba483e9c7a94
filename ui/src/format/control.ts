// What the page says of the control of a run.
import type { ControlState, RunSummary, Warning } from "../api/names";
import { verdictOf } from "./verdict";

/** controlText says what holds and whether the guard hears the next order. */
export function controlText(state: ControlState | null): string {
  if (state === null) return "Asking what was ordered …";
  const last = (state.orders ?? []).filter((o) => o.act !== "nudge").at(-1);
  const ended = last?.ends ? "A new message of a person ended the last order." : "";
  const holds = state.halted ? "Halted by a person." : state.paused ? "Paused: calls wait." : ended;
  const allowed = (state.allowed_tools ?? []).length > 0 ? `Allowed for this run: ${state.allowed_tools!.join(", ")}.` : "";
  const hears = state.listening ? (state.waiting > 0 ? "The guard is about to hear the last order." : "The guard listens.") : "No guard listens now. It hears orders when it connects.";
  return [holds, allowed, hears].filter((part) => part !== "").join(" ");
}

/** runAsMarkdown describes a run and its warnings, for an issue. */
export function runAsMarkdown(run: RunSummary, warnings: readonly Warning[]): string {
  const lines = warnings.map((w) => `- \`${w.type}\` (${w.severity}): ${w.message.replace(/\s+/g, " ").trim()}`);
  return [`**${run.name}** (run \`${run.id}\`, project ${run.project}, ${run.status})`, "", verdictOf(run, warnings), "", ...lines, ""].join("\n");
}
