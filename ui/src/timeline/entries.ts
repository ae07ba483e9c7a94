// From events to entries: a call and its outcome are one entry, everything else is an entry of its own.
import type { Event } from "../api/names";
import { instant } from "./ledger";
import { callKey, canonical, hash, masked, resultKey } from "./same";

export type Kind = "tool" | "llm" | "message" | "handoff" | "retry" | "state" | "run" | "override" | "other";
export type Outcome = "open" | "done" | "failed" | "blocked";

export interface Entry {
  index: number;
  kind: Kind;
  /** The number of its first event in the run, from 0. */
  number: number;
  first: Event;
  /** The outcome of a call, once it is there. */
  last: Event | null;
  agent: string;
  tool: string;
  outcome: Outcome;
  /** Milliseconds since the epoch. */
  time: number;
  /** Milliseconds; null where nobody knows. */
  duration: number | null;
  depth: number;
  /** Says which call it is, and with what it brought; 0 where that makes no sense. */
  call: number;
  result: number;
  /** How often this call has brought this result, this time included. */
  times: number;
  /** The latest entry before it with the same call, or else of the same tool; -1 for none. */
  before: number;
  /** Whether what it brought was not seen before from this tool in this run. */
  news: boolean;
  /** Equal for entries that do the same with the same result; 0 for what never repeats. */
  sign: number;
}

function signOf(e: Entry): number {
  switch (e.kind) {
    case "tool":
      return e.outcome === "open" ? 0 : hash(`${e.agent} ${e.call} ${e.result} ${e.outcome}`);
    case "llm":
      return hash(`llm ${e.agent} ${e.first.model} ${e.outcome}`);
    case "message":
      return e.first.role === "user" ? 0 : hash(`message ${e.agent} ${e.call}`);
    case "handoff":
    case "retry":
      return hash(`${e.kind} ${e.agent} ${e.first.name}`);
    default:
      return 0;
  }
}

const kinds = new Map<string, Kind>([
  ["message", "message"], ["handoff_started", "handoff"], ["retry_triggered", "retry"], ["state_updated", "state"], ["memory_write", "state"],
  ["run_started", "run"], ["run_completed", "run"], ["run_failed", "run"], ["override", "override"],
]);

const outcomes: Record<string, Outcome> = { completed: "done", failed: "failed", blocked: "blocked" };

export function toolOf(e: Event): string {
  return e.tool ?? e.name ?? "";
}

/** Entries grows with a run: events are added in the order of the run. An entry itself never changes; another takes its place. */
export class Entries {
  list: Entry[] = [];
  agents: string[] = [];
  /** How long the slowest entry took, in milliseconds. */
  slowest = 0;
  private of = new Map<string, number>(); // event id → entry
  private open = new Map<string, number[]>(); // call → entries without an outcome
  private llms = new Set<string>(); // agents that have called a model
  private seen = new Map<number, number>(); // call with result → times
  private results = new Set<number>();
  private latest = new Map<string | number, number>();

  /** The entry that an event belongs to, or -1. */
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
      call: 0, result: 0, times: 0, before: -1, news: false, sign: 0,
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
    if (entry.kind === "message") entry.call = hash(masked(`${e.role}\n${e.text ?? canonical(e.output)}`));
    if (e.type === "run_failed") entry.outcome = "failed";
    entry.sign = signOf(entry);
  }

  private begin(e: Event, number: number, kind: "tool" | "llm"): void {
    const entry = this.push(e, number, kind);
    entry.outcome = "open";
    entry.sign = signOf(entry);
    if (kind === "llm") this.llms.add(entry.agent);
    else entry.call = callKey(entry.tool, e.input);
    const key = this.keyOf(e, kind);
    const waiting = this.open.get(key);
    if (waiting) waiting.push(entry.index);
    else this.open.set(key, [entry.index]);
  }

  private end(e: Event, number: number, kind: "tool" | "llm", outcome: Outcome): void {
    const key = this.keyOf(e, kind);
    const waiting = this.open.get(key);
    const index = waiting?.shift();
    if (waiting?.length === 0) this.open.delete(key);
    const entry = index === undefined ? this.push(e, number, kind) : { ...this.list[index]! };
    this.list[entry.index] = entry; // a new one, so that who shows the old one sees that it changed
    entry.last = e;
    entry.outcome = outcome;
    this.of.set(e.event_id, entry.index);
    if (index !== undefined) entry.duration = e.latency_ms ?? Math.max(instant(e.timestamp) - entry.time, 0);
    this.slowest = Math.max(this.slowest, entry.duration ?? 0);
    if (kind === "tool") this.settle(entry, e);
    entry.sign = signOf(entry);
  }

  private settle(entry: Entry, e: Event): void {
    if (!entry.call) entry.call = callKey(entry.tool, entry.first.input);
    entry.result = resultKey(e.output, e.error);
    const both = hash(`${entry.call} ${entry.result} ${entry.outcome}`);
    entry.times = (this.seen.get(both) ?? 0) + 1;
    this.seen.set(both, entry.times);
    const brought = hash(`${entry.tool} ${entry.result} ${entry.outcome}`);
    entry.news = entry.outcome !== "blocked" && !this.results.has(brought);
    this.results.add(brought);
    entry.before = this.latest.get(entry.call) ?? this.latest.get(entry.tool) ?? -1;
    this.latest.set(entry.call, entry.index);
    this.latest.set(entry.tool, entry.index);
  }

  private keyOf(e: Event, kind: "tool" | "llm"): string {
    if (e.call_id) return `${kind} ${e.call_id}`;
    return kind === "tool" ? `tool of ${e.agent ?? ""} ${toolOf(e)}` : `llm of ${e.agent ?? ""}`;
  }
}
