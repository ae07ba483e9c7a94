// Converts events to entries. A call and its outcome form one entry; every other event is an entry of its own. The server determines which
// outcome belongs to which call, which calls and results are equal, which results are new, and what an event repeats.
import type { Event } from "../api/names";
import { instant } from "./event_log";

export type Kind = "tool" | "llm" | "message" | "handoff" | "retry" | "state" | "run" | "override" | "other";
export type Outcome = "open" | "done" | "failed" | "blocked";

export interface Entry {
  index: number;
  kind: Kind;
  /** The index of its first event in the run, from 0. */
  number: number;
  first: Event;
  /** The outcome of a call, once it has arrived. */
  last: Event | null;
  agent: string;
  tool: string;
  outcome: Outcome;
  /** Milliseconds since the epoch. */
  time: number;
  /** Milliseconds; null if unknown. */
  duration: number | null;
  depth: number;
  /** The server's identities of the call, or of a message's text, and of the result; empty if the entry has none. */
  call: string;
  result: string;
  /** The number of times that this call returned this result, including this one; 0 if it is the first or unknown. */
  times: number;
  /** The index of the entry that this one repeats, else of the last earlier one with the same call or tool; -1 for none. */
  previous: number;
  /** Whether the result is new in the run; null if that is unknown. */
  novel: boolean | null;
  /** Equal for entries with the same action and result; 0 for entries that never repeat. */
  signature: number;
}

/** actionOf returns what an entry did: the same for entries that repeat each other, null for entries that never repeat. */
function actionOf(e: Entry): unknown[] | null {
  switch (e.kind) {
    case "tool":
      return e.outcome === "open" || !e.call ? null : [e.kind, e.agent, e.call, e.result, e.outcome];
    case "llm":
      return [e.kind, e.agent, e.first.model, e.outcome];
    case "message":
      return e.call ? [e.kind, e.agent, e.call] : null;
    case "handoff":
    case "retry":
      return [e.kind, e.agent, e.first.name];
    default:
      return null;
  }
}

const kinds = new Map<string, Kind>([
  ["message", "message"], ["handoff_started", "handoff"], ["retry_triggered", "retry"], ["state_updated", "state"], ["memory_write", "state"],
  ["run_started", "run"], ["run_completed", "run"], ["run_failed", "run"], ["override", "override"],
]);

const outcomes: Record<string, Outcome> = { completed: "done", failed: "failed", blocked: "blocked" };

function toolOf(e: Event): string {
  return e.tool ?? e.name ?? "";
}

/** Entries are built from the events of a run, added in order. An entry is immutable: an update replaces it. */
export class Entries {
  list: Entry[] = [];
  agents: string[] = [];
  /** The duration of the slowest entry, in milliseconds. */
  slowest = 0;
  private of = new Map<string, number>(); // event id → entry
  private llms = new Set<string>(); // agents that have called a model
  private latest = new Map<string, number>(); // call, tool → entry
  private signatures = new Map<string, number>(); // action → signature

  /** The index of the entry that contains an event, or -1. */
  entryOf(id: string): number {
    return this.of.get(id) ?? -1;
  }

  /** Adds an event. Cost: O(size of the event). */
  add(e: Event, number: number): void {
    const call = /^(tool|llm)_call_(started|completed|failed|blocked)$/.exec(e.type);
    if (!call) return this.single(e, number);
    const kind = call[1] as "tool" | "llm";
    if (call[2] === "started") return this.begin(e, number, kind);
    this.end(e, number, kind, outcomes[call[2] ?? ""] ?? "done");
  }

  private push(e: Event, number: number, kind: Kind): Entry {
    const agent = e.agent ?? "";
    if (agent && !this.agents.includes(agent) && this.agents.length < 64) this.agents.push(agent);
    const entry: Entry = {
      index: this.list.length, kind, number, first: e, last: null, agent, tool: kind === "tool" ? toolOf(e) : "",
      outcome: "done", time: instant(e.timestamp), duration: e.latency_ms, depth: this.depthOf(e, kind),
      call: e.analysis?.call ?? "", result: "", times: 0, previous: -1, novel: null, signature: 0,
    };
    this.of.set(e.event_id, entry.index);
    this.list.push(entry);
    return entry;
  }

  private depthOf(e: Event, kind: Kind): number {
    const parent = e.parent_event_id ? this.of.get(e.parent_event_id) : undefined;
    if (parent !== undefined) return Math.min((this.list[parent]?.depth ?? 0) + 1, 6);
    return kind === "tool" && this.llms.has(e.agent ?? "") ? 1 : 0;
  }

  private single(e: Event, number: number): void {
    const entry = this.push(e, number, kinds.get(e.type) ?? "other");
    if (e.type === "run_failed") entry.outcome = "failed";
    entry.signature = this.signatureOf(entry);
  }

  private signatureOf(e: Entry): number {
    const action = actionOf(e);
    if (action === null) return 0;
    const key = JSON.stringify(action);
    const signature = this.signatures.get(key) ?? this.signatures.size + 1;
    this.signatures.set(key, signature);
    return signature;
  }

  private begin(e: Event, number: number, kind: "tool" | "llm"): void {
    const entry = this.push(e, number, kind);
    entry.outcome = "open";
    entry.signature = this.signatureOf(entry);
    if (kind === "llm") this.llms.add(entry.agent);
  }

  private end(e: Event, number: number, kind: "tool" | "llm", outcome: Outcome): void {
    const index = this.of.get(e.analysis?.call_event_id ?? "");
    const entry = index === undefined ? this.push(e, number, kind) : { ...this.list[index]! };
    this.list[entry.index] = entry; // a new object, so that the page notices the change
    entry.last = e;
    entry.outcome = outcome;
    this.of.set(e.event_id, entry.index);
    if (index !== undefined) entry.duration = e.latency_ms ?? Math.max(instant(e.timestamp) - entry.time, 0);
    this.slowest = Math.max(this.slowest, entry.duration ?? 0);
    if (kind === "tool") this.readAnalysis(entry, e);
    entry.signature = this.signatureOf(entry);
  }

  private readAnalysis(entry: Entry, e: Event): void {
    const analysis = e.analysis;
    entry.call = analysis?.call ?? entry.call;
    entry.result = analysis?.result ?? "";
    entry.novel = analysis?.novel ?? null;
    if (analysis?.failing && entry.outcome === "done") entry.outcome = "failed";
    entry.times = analysis?.repeats ?? 0;
    const [call, tool] = [`call ${entry.call}`, `tool ${entry.tool}`];
    entry.previous = this.of.get(analysis?.repeats_event_id ?? "") ?? this.latest.get(call) ?? this.latest.get(tool) ?? -1;
    if (entry.call) this.latest.set(call, entry.index);
    this.latest.set(tool, entry.index);
  }
}
