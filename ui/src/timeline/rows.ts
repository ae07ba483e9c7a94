// What stands in the timeline, row by row: entries, folded stretches and decisions.
import type { Decision } from "../api/names";
import type { Entry } from "./entries";
import type { Fold } from "./folds";

export type Row =
  | { type: "entry"; key: string; entry: Entry; inFold: boolean }
  | { type: "fold"; key: string; fold: Fold; open: boolean }
  | { type: "decision"; key: string; decision: Decision; entry: number };

export interface Choice {
  /** Only entries of this tool or agent; empty for all. */
  tool: string;
  agent: string;
  /** Only entries in which this stands, in lower case; empty for all. */
  text: string;
}

export const everything: Choice = { tool: "", agent: "", text: "" };

export function chosen(c: Choice): boolean {
  return c.tool !== "" || c.agent !== "" || c.text !== "";
}

/** edges keeps those decisions that say another thing than the one before. */
export function edges(decisions: readonly Decision[]): Decision[] {
  return decisions.filter((d, i) => i === 0 || d.action !== decisions[i - 1]!.action || d.code !== decisions[i - 1]!.code);
}

export interface Timeline {
  entries: readonly Entry[];
  /** How long the slowest of them took, in milliseconds. */
  slowest: number;
  folds: readonly Fold[];
  decisions: readonly Decision[];
  entryOf: (event: string) => number;
}

/** foldKey names a fold, also while it grows. */
export function foldKey(t: Timeline, f: Fold): string {
  return `fold ${t.entries[f.from]!.first.event_id}`;
}

/** Senders choose the ids of events, so each kind of row has a prefix of its own: no id can pass for another row's key. */
function entryKey(e: Entry): string {
  return `entry ${e.first.event_id}`;
}

/** rowsOf lists the rows. Open has the keys of those folds that are unfolded. */
export function rowsOf(t: Timeline, open: ReadonlySet<string>, choice: Choice): Row[] {
  if (chosen(choice)) return filtered(t, choice);
  const rows: Row[] = [];
  const decided = byEntry(t);
  let next = 0;
  for (let i = 0; i < t.entries.length; i++) {
    const fold = t.folds[next];
    if (fold && fold.from === i) {
      next++;
      const key = foldKey(t, fold);
      rows.push({ type: "fold", key, fold, open: open.has(key) });
      if (!open.has(key)) {
        for (; i < fold.to; i++) rows.push(...(decided.get(i) ?? []));
        i--;
        continue;
      }
    }
    const before = t.folds[next - 1];
    rows.push({ type: "entry", key: entryKey(t.entries[i]!), entry: t.entries[i]!, inFold: before !== undefined && i < before.to });
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
    rows.push({ type: "entry", key: entryKey(entry), entry, inFold: false });
  }
  return rows;
}

/** How much of an entry is searched, in characters. */
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

/** foldAround returns the fold in which an entry is, if it is in one. */
export function foldAround(folds: readonly Fold[], entry: number): Fold | null {
  let low = 0;
  let high = folds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (folds[middle]!.to <= entry) low = middle + 1;
    else high = middle;
  }
  const fold = folds[low];
  return fold && fold.from <= entry ? fold : null;
}
