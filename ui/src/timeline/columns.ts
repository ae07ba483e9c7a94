// The columns of the timeline. A column without content is left out, and the others use its width.
import type { Entry } from "./entries";

export interface Columns {
  /** The time since the start of the run. */
  time: boolean;
  tokens: boolean;
  duration: boolean;
}

/** columnsOf returns the columns that have content. Events without times of their own have those of their arrival, which say nothing
 * about the run: then more than one entry falls into each millisecond. Cost: O(entries). */
export function columnsOf(entries: readonly Entry[]): Columns {
  const columns: Columns = { time: timed(entries), tokens: false, duration: false };
  for (const e of entries) {
    columns.tokens ||= ((e.last ?? e.first).tokens ?? 0) > 0;
    columns.duration ||= ((columns.time ? e.duration : ((e.last ?? e.first).latency_ms ?? 0)) ?? 0) >= 1;
  }
  return columns;
}

/** timed reports whether the times of the entries are those of the run. */
export function timed(entries: readonly Entry[]): boolean {
  const first = entries[0]?.time;
  const last = entries.at(-1)?.time;
  if (first === undefined || last === undefined || Number.isNaN(last - first)) return false;
  return entries.length < 4 ? last > first || (entries[0]?.duration ?? 0) >= 1 : last - first >= entries.length;
}
