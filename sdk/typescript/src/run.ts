// Runs: the events of an agent from a question to its answer. A run passes events to the sender. It never waits, and never throws into
// the agent. The current run belongs to the asynchronous context.

import { sender } from "./core.js";
import { warnOnce } from "./log.js";
import { builtin, newContext, randomHex } from "./runtime.js";
import { digest, errorText, redact, serialize, shorten, truncate } from "./serialize.js";
import { settings } from "./settings.js";
import { whenSettled } from "./settled.js";

const MAX_NAME = 512; // bytes of a name or an id; the limit of the server
const MAX_OBSERVED = 4096; // runs that are kept for observedRun; the oldest is dropped

/** Token counts of a model call. The input includes the cached and cache write tokens, and the output the reasoning tokens. */
export interface Usage {
  input_tokens?: number;
  output_tokens?: number;
  cached_input_tokens?: number;
  cache_write_tokens?: number;
  reasoning_tokens?: number;
}

export type EventType =
  | "run_started"
  | "run_completed"
  | "run_failed"
  | `${"agent" | "chain" | "llm_call" | "tool_call"}_${"started" | "completed" | "failed"}`
  | "tool_call_blocked"
  | "handoff_started"
  | "retry_triggered"
  | "message"
  | (string & {});

/** The fields of an event, with the names that they have on the wire. undefined is absent, and null a value like any other. */
export interface EventFields {
  event_id?: string | undefined;
  agent?: string | undefined;
  name?: string | undefined;
  tool?: string | undefined;
  call_id?: string | undefined;
  model?: string | undefined;
  input?: unknown;
  output?: unknown;
  error?: unknown;
  tokens?: number | undefined;
  usage?: Usage | undefined;
  /** In US dollars. */
  cost?: number | undefined;
  latency_ms?: number | undefined;
  role?: string | undefined;
  text?: string | undefined;
  status?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  parent_event_id?: string | undefined;
  /** The default is now. */
  timestamp?: Date | undefined;
}

export interface RunOptions {
  /** The default is a random id. The id of an earlier run continues that run. */
  id?: string | undefined;
  project?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
}

interface Scope {
  run: Run | undefined;
  agent: string | undefined;
}

const context = newContext<Scope>();

/** Returns the run of this asynchronous context, or undefined. */
export function currentRun(): Run | undefined {
  return context.getStore()?.run;
}

const observed = new Map<string, Run>(); // runs that have not ended, by id

/** Returns the run with the id that this process records and that has not ended, or undefined. */
export function observedRun(id: string): Run | undefined {
  return observed.get(id);
}

/** Runs fn. All events within it carry the name of the agent. */
export function asAgent<R>(agent: string, fn: () => R): R {
  return context.run({ run: currentRun(), agent }, fn);
}

/** Records an event of the current run and returns its id. Without a run the event is counted as ignored, and "" returned. */
export function event(type: EventType, fields: EventFields = {}): string {
  const run = currentRun();
  if (run) return run.event(type, fields);
  countIgnored();
  return "";
}

export function countIgnored(): void {
  if (!settings().enabled) return;
  sender().ignore();
  warnOnce("ignored", "event ignored: no current run; start one with trace(name, fn)");
}

/**
 * Starts a run, calls fn within it, ends the run when the promise or the generator that fn returns has ended, and returns what fn
 * returns. A failure ends the run as failed and propagates. A trace within a trace is a separate run with parent_run_id in its
 * metadata. If both have the same id they are one run, which ends with the outer trace.
 */
export function trace<R>(name: string, fn: (run: Run) => R): R;
export function trace<R>(name: string, options: RunOptions, fn: (run: Run) => R): R;
export function trace<R>(name: string, given: RunOptions | ((run: Run) => R), last?: (run: Run) => R): R {
  const [options, fn] = typeof given === "function" ? [{}, given] : [given, last as (run: Run) => R];
  const outer = currentRun();
  if (outer && options.id !== undefined && Run.idOf(options.id) === outer.id) return fn(outer);
  const metadata = outer ? { parent_run_id: outer.id, ...options.metadata } : options.metadata;
  const run = Run.begin(name, { ...options, metadata });
  return whenSettled(
    () => fn(run),
    (part) => run.activate(part),
    () => run.end(),
    (error) => run.end({ error }),
  );
}

/** A run of an agent. Its methods never throw and never wait. */
export class Run {
  readonly name: string;
  readonly id: string;
  private readonly head: string; // the JSON members that all events of the run share
  private readonly enabled = settings().enabled;
  private ended = false;

  private constructor(name: string, options: RunOptions) {
    this.name = shortName(name) || "run";
    this.id = options.id ? Run.idOf(options.id) : randomHex(12);
    const project = options.project || settings().project;
    this.head = `"run_id":${JSON.stringify(this.id)}${project ? `,"project":${JSON.stringify(shortName(project))}` : ""}`;
  }

  static idOf(id: string): string {
    return shortName(id);
  }

  /** Starts a run without making it the current one. end() ends it. */
  static begin(name: string, options: RunOptions = {}): Run {
    const run = new Run(name, options);
    observed.set(run.id, run);
    const [oldest] = observed.keys();
    if (observed.size > MAX_OBSERVED && oldest !== undefined) observed.delete(oldest);
    run.event("run_started", { name: run.name, metadata: options.metadata });
    return run;
  }

  /** Records an event and returns its id, or "" if the package is disabled. Values are serialized now. */
  event(type: EventType, fields: EventFields = {}): string {
    if (!this.enabled) return "";
    try {
      const id = fields.event_id ? shortName(fields.event_id) : nextId();
      const agent = fields.agent || context.getStore()?.agent;
      sender().put(JSON.stringify(id), `${this.head},"type":${JSON.stringify(shortName(type))}${members(fields, agent)}}\n`);
      return id;
    } catch (failure) {
      warnOnce("event", `event not recorded: ${failure instanceof Error ? failure.name : "error"}`); // it must not stop the agent
      return "";
    }
  }

  /** Ends the run: as failed with an error, else as completed. Further calls do nothing. */
  end({ error, status }: { error?: unknown; status?: string | undefined } = {}): void {
    if (this.ended) return;
    this.ended = true;
    if (observed.get(this.id) === this) observed.delete(this.id);
    const failed = error !== undefined && error !== null;
    this.event(failed ? "run_failed" : "run_completed", { name: this.name, status, ...(failed && { error }) });
  }

  /** Calls fn with this run as the current one. */
  activate<R>(fn: () => R): R {
    return context.run({ run: this, agent: context.getStore()?.agent }, fn);
  }
}

const prefix = builtin("node:crypto") ? randomHex(5) : ""; // an edge runtime has no random numbers outside of a request
let made = 0;
let latePrefix = prefix;

/** Returns an id that is unique across processes. */
function nextId(): string {
  latePrefix ||= randomHex(5);
  return `${latePrefix}-${++made}`;
}

function shortName(text: unknown): string {
  return shorten(typeof text === "string" ? text : String(text), MAX_NAME);
}

const names = ["name", "tool", "call_id", "model", "role", "status", "parent_event_id"] as const;
const numbers = ["tokens", "cost", "latency_ms"] as const;
const kinds = ["input_tokens", "output_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens"] as const;

/** Returns the JSON of an event's fields, each after a comma. */
function members(fields: EventFields, agent: string | undefined): string {
  const { captureInputs, captureOutputs, valueBytes } = settings();
  let json = agent ? `,"agent":${JSON.stringify(shortName(agent))}` : "";
  for (const field of names) {
    const name = fields[field];
    if (name) json += `,"${field}":${JSON.stringify(shortName(name))}`;
  }
  for (const field of numbers) {
    const number = fields[field];
    if (typeof number === "number" && Number.isFinite(number)) json += `,"${field}":${number}`;
  }
  const value = (field: string, item: unknown, captured: boolean): void => {
    if (item !== undefined) json += `,"${field}":${captured ? serialize(item, valueBytes).json : redact(item)}`;
  };
  value("input", fields.input, captureInputs);
  value("output", fields.output, captureOutputs);
  if (fields.error !== undefined && fields.error !== null)
    json += `,"error":${errorJson(fields.error, captureOutputs, valueBytes)}`;
  if (typeof fields.text === "string") {
    const captured = fields.role === "user" ? captureInputs : captureOutputs;
    const text = captured ? truncate(fields.text, valueBytes) : `[${fields.text.length} characters, ${digest(fields.text)}]`;
    json += `,"text":${JSON.stringify(text)}`;
  }
  if (fields.usage) {
    const counts = kinds.flatMap((kind) => (isCount(fields.usage?.[kind]) ? [`"${kind}":${fields.usage[kind]}`] : []));
    if (counts.length > 0) json += `,"usage":{${counts.join(",")}}`;
  }
  value("metadata", fields.metadata, true);
  return `${json},"timestamp":${(fields.timestamp?.getTime() || Date.now()) / 1000}`;
}

function errorJson(error: unknown, captured: boolean, limit: number): string {
  if (!(error instanceof Error)) return captured ? serialize(error, limit).json : redact(error);
  const message = errorText(error);
  return JSON.stringify(captured ? truncate(message, limit) : `${error.name}: [${digest(message)}]`);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
