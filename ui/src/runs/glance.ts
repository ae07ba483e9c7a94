// What a run did, at a glance: which tools it called, and how much of what they brought was new. The list of runs does not tell
// it, so the page works it out from the events of those runs that are in sight.
import { api } from "../api/client";
import type { RunSummary } from "../api/names";
import { Entries, type Entry } from "../timeline/entries";

export interface Glance {
  tools: string[];
  /** For stretches of equal length: the share of steps that brought something new, 0 to 1. */
  news: number[];
}

/** Longer runs are not read for the sake of a list. */
export const longest = 1000;
const stretches = 24;
const atOnce = 2;
const kept = 500;

/** glanceOf sums up entries. */
export function glanceOf(entries: readonly Entry[]): Glance {
  const steps = entries.filter((e) => e.kind === "tool" && e.last !== null);
  const calls = new Map<string, number>();
  for (const s of steps) calls.set(s.tool, (calls.get(s.tool) ?? 0) + 1);
  const tools = [...calls].sort((a, b) => b[1] - a[1]).map(([tool]) => tool);
  const n = Math.min(stretches, steps.length);
  const news = Array.from({ length: n }, (_, i) => {
    const part = steps.slice(Math.floor((i * steps.length) / n), Math.floor(((i + 1) * steps.length) / n));
    return part.filter((s) => s.news).length / part.length;
  });
  return { tools, news };
}

class Glances {
  private known = new Map<string, { arrival: number; glance: Glance }>();
  private waiting: (() => void)[] = [];
  private busy = 0;

  /** What is known of a run, perhaps from before its latest events. */
  of(id: string): Glance | null {
    return this.known.get(id)?.glance ?? null;
  }

  /** Reads a run, some at a time. Null if it cannot be read, or nobody wants it any more. */
  async read(run: RunSummary, signal: AbortSignal): Promise<Glance | null> {
    if (run.event_count > longest) return null;
    const known = this.known.get(run.id);
    if (known?.arrival === run.arrival) return known.glance;
    if (this.busy >= atOnce) await new Promise<void>((free) => this.waiting.push(free));
    if (signal.aborted) return this.next(null);
    this.busy++;
    try {
      const entries = new Entries();
      const page = await api.events(run.id, longest, signal);
      page.items.forEach((e, i) => entries.add(e, i));
      return this.keep(run, glanceOf(entries.list));
    } catch {
      return null; // the list does without
    } finally {
      this.busy--;
      this.next(null);
    }
  }

  private next<T>(value: T): T {
    if (this.busy < atOnce) this.waiting.shift()?.();
    return value;
  }

  private keep(run: RunSummary, glance: Glance): Glance {
    this.known.set(run.id, { arrival: run.arrival, glance });
    const first = this.known.keys().next().value;
    if (this.known.size > kept && first !== undefined) this.known.delete(first);
    return glance;
  }
}

export const glances = new Glances();
