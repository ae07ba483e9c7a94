// The rows of the timeline: entries, collapsed repeats and decisions.
import type { Decision } from "../api/names";
import type { Entry } from "./entries";
import type { RepeatedRange } from "./repeats";

export type Row =
  | { type: "entry"; key: string; entry: Entry; inRepeat: boolean }
  | { type: "repeat"; key: string; repeat: RepeatedRange; open: boolean }
  | { type: "decision"; key: string; decision: Decision; entry: number };

export interface Choice {
  /** Only entries of this tool or agent; empty for all. */
  tool: string;
  agent: string;
  /** Only entries that contain this text, in lower case; empty for all. */
  text: string;
}

export const everything: Choice = { tool: "", agent: "", text: "" };

export function chosen(c: Choice): boolean {
  return c.tool !== "" || c.agent !== "" || c.text !== "";
}

/** edges returns the decisions that differ from the one before. */
export function edges(decisions: readonly Decision[]): Decision[] {
  return decisions.filter((d, i) => i === 0 || d.action !== decisions[i - 1]!.action || d.code !== decisions[i - 1]!.code);
}

export interface Timeline {
  entries: readonly Entry[];
  /** The duration of the slowest entry, in milliseconds. */
  slowest: number;
  repeats: readonly RepeatedRange[];
  decisions: readonly Decision[];
  entryOf: (event: string) => number;
}

/** repeatKey returns the key of a repeat. It stays the same while the repeat grows. */
export function repeatKey(t: Timeline, f: RepeatedRange): string {
  return `repeat ${t.entries[f.from]!.first.event_id}`;
}

/** Senders choose event ids, so each kind of row has its own key prefix. No id can collide with another row's key. */
function entryKey(e: Entry): string {
  return `entry ${e.first.event_id}`;
}

/** rowsOf returns the rows. Open holds the keys of the expanded repeats. */
export function rowsOf(t: Timeline, open: ReadonlySet<string>, choice: Choice): Row[] {
  if (chosen(choice)) return filtered(t, choice);
  const rows: Row[] = [];
  const decided = byEntry(t);
  let next = 0;
  for (let i = 0; i < t.entries.length; i++) {
    const repeat = t.repeats[next];
    if (repeat && repeat.from === i) {
      next++;
      const key = repeatKey(t, repeat);
      rows.push({ type: "repeat", key, repeat, open: open.has(key) });
      if (!open.has(key)) {
        for (; i < repeat.to; i++) rows.push(...(decided.get(i) ?? []));
        i--;
        continue;
      }
    }
    const before = t.repeats[next - 1];
    rows.push({ type: "entry", key: entryKey(t.entries[i]!), entry: t.entries[i]!, inRepeat: before !== undefined && i < before.to });
    const here = decided.get(i);
    if (here) rows.push(...here);
  }
  return rows;
}

function byEntry(t: Timeline): Map<number, Row[]> {
  const map = new Map<number, Row[]>();
  for (const decision of edges(t.decisions)) {
    const entry = t.entryOf(decision.event_id);
    if (entry < 0) continue;
    const row: Row = { type: "decision", key: `decision ${decision.event_id} ${decision.code}`, decision, entry };
    map.set(entry, [...(map.get(entry) ?? []), row]);
  }
  return map;
}

function filtered(t: Timeline, c: Choice): Row[] {
  const rows: Row[] = [];
  for (const entry of t.entries) {
    if (c.tool && entry.tool !== c.tool) continue;
    if (c.agent && entry.agent !== c.agent) continue;
    if (c.text && !textOf(entry).includes(c.text)) continue;
    rows.push({ type: "entry", key: entryKey(entry), entry, inRepeat: false });
  }
  return rows;
}

/** The searched length of an entry, in characters. */
const searched = 4096;

function textOf(e: Entry): string {
  const { first, last } = e;
  const parts: unknown[] = [first.type, e.tool, e.agent, first.name, first.text, first.input, last?.output ?? first.output, last?.error ?? first.error];
  let text = "";
  for (const part of parts) {
    if (part === null || part === undefined) continue;
    text += ` ${typeof part === "string" ? part : JSON.stringify(part)}`;
    if (text.length > searched) break;
  }
  return text.slice(0, searched).toLowerCase();
}

/** repeatAround returns the repeat that contains an entry, or null. */
export function repeatAround(repeats: readonly RepeatedRange[], entry: number): RepeatedRange | null {
  let low = 0;
  let high = repeats.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (repeats[middle]!.to <= entry) low = middle + 1;
    else high = middle;
  }
  const repeat = repeats[low];
  return repeat && repeat.from <= entry ? repeat : null;
}
