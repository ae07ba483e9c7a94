// What the page says of the control of a run.
import type { ControlState } from "../api/names";

/** controlText returns the orders that hold, and whether the guard gets the next order. A guard of a run that is over may continue it. */
export function controlText(state: ControlState | null, over: boolean): string {
  if (state === null) return "Loading the orders …";
  const last = (state.orders ?? []).filter((o) => o.act !== "nudge").at(-1);
  const ended = last?.ends ? "A new message of a person ended the last order." : "";
  const holds = state.halted ? "Halted by a person." : state.paused ? "Paused: calls wait." : ended;
  const allowed = (state.allowed_tools ?? []).length > 0 ? `Allowed for this run: ${state.allowed_tools!.join(", ")}.` : "";
  const guard = state.listening ? (state.waiting > 0 ? "The guard has not fetched the last order yet." : "The guard listens.") : over ? "The run is over. A guard that continues it gets the orders." : "No guard listens. It gets the orders when it connects.";
  return [holds, allowed, guard].filter((part) => part !== "").join(" ");
}
