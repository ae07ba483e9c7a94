// What the adapters share: one run of an agent, which is recorded, guarded, or both.

import { nudgeError } from "./guard/attach.js";
import type { Decision } from "./guard/decision.js";
import { type Annotations, type CallOutcome, Guard, type GuardOptions } from "./guard/guard.js";
import { currentRun, type EventFields, Run } from "./run.js";
import { randomHex } from "./runtime.js";

export interface AdapterOptions {
  /** What decides about calls. false: nothing does, and runs are only recorded. The default is new Guard(). */
  guard?: Guard | GuardOptions | false;
  /** Whether events are sent to the server. The default is true. */
  record?: boolean;
}

/** Makes the sessions of an adapter. */
export class Sessions {
  private readonly guard: Guard | undefined;
  private readonly record: boolean;

  constructor({ guard = {}, record = true }: AdapterOptions) {
    this.guard = guard === false ? undefined : guard instanceof Guard ? guard : new Guard(guard);
    this.record = record;
  }

  /** Starts a session of the current run; without one, of a run with this name and id. */
  begin(name: string, id?: string): Session {
    const outer = currentRun();
    const key = outer?.id ?? id ?? randomHex(12);
    const run = this.record ? (outer ?? Run.begin(name, { id: key })) : undefined;
    return new Session(this.guard?.run(key), run, !outer, !outer && !id);
  }
}

export interface ToolCall {
  tool: string;
  args: unknown;
  agent?: string | undefined;
  annotations?: Annotations | undefined;
}

/** How a call ended: with a result for the model, and the decision about it. */
export interface ToolOutcome {
  result: unknown;
  decision: Decision | undefined;
}

/** One run of an agent. */
export class Session {
  /** The decision that ended the run. */
  halted: Decision | undefined;
  private readonly nudges: string[] = [];

  constructor(
    readonly guard: Guard | undefined,
    readonly run: Run | undefined,
    private readonly ownsRun: boolean,
    private readonly forgets: boolean,
  ) {}

  /** Calls a tool, unless the guard blocks the call. Rejects with the tool's error, and the nudge in its message. */
  async tool(call: ToolCall, execute: () => unknown): Promise<ToolOutcome> {
    const open = await this.begin(call);
    if (open.refused) return open.refused;
    let result: unknown;
    try {
      result = await open.activate(execute);
    } catch (error) {
      const decision = await open.failed(error);
      if (decision) nudgeError(error, decision);
      throw error;
    }
    return await open.completed(result);
  }

  /** Reports the start of a call, and returns the guard's decision about it. */
  async begin(call: ToolCall): Promise<OpenCall> {
    const open = new OpenCall(this, call);
    const decision = this.halted ?? (await this.guard?.before(call.tool, call.args, open.asked));
    if (decision?.stopped) open.refuse(decision, this.halted ? refusal(decision) : (decision.result ?? refusal(decision)));
    return open;
  }

  /** Reports the text beside a model's calls. A nudge about it is for the model's next request. */
  async text(text: string, agent?: string): Promise<void> {
    const decision = await this.guard?.text(text, { agent });
    this.note(decision);
    if (decision && decision.action !== "allow" && !decision.halted) this.nudges.push(`[loop-guard] ${decision.message}`);
  }

  /**
   * Returns what a tool with a toModelOutput returns. That function reads the results of the tool and not those with a nudge, so the nudge
   * is for the model's next request.
   */
  ownResult({ result, decision }: ToolOutcome, own: unknown): unknown {
    if (result === own || isRefusal(result)) return result;
    if (decision && !decision.halted) this.nudgeLater(`[loop-guard] ${decision.message}`);
    return own;
  }

  /** Keeps a nudge for the model's next request. */
  nudgeLater(nudge: string): void {
    this.nudges.push(nudge);
  }

  /** Returns the nudges for the model's next request, each once. */
  takeNudges(): string[] {
    return this.nudges.splice(0);
  }

  /** Reports that the user starts a turn. */
  async user(text: string): Promise<void> {
    this.run?.event("message", { role: "user", text });
    await this.guard?.user(text);
  }

  note(decision: Decision | undefined): void {
    if (decision?.halted) this.halted ??= decision;
  }

  /** Ends the run, unless it belongs to a trace. The guard drops a run without an id of its own. */
  end(error?: unknown): void {
    if (this.ownsRun) this.run?.end({ error: error ?? (this.halted ? `halted: ${this.halted.message}` : undefined) });
    if (this.forgets) void this.guard?.close().catch(() => {});
  }
}

/** A call of a tool that has begun. It ends with completed() or failed(), unless it was refused. */
export class OpenCall {
  /** What the model gets, if the call must not run. */
  refused: ToolOutcome | undefined;
  readonly asked: { id: string; agent: string | undefined; annotations: Annotations | undefined };
  private readonly fields: EventFields;
  private readonly startedAt = performance.now();

  constructor(
    private readonly session: Session,
    private readonly call: ToolCall,
  ) {
    const { tool, agent, annotations } = call;
    const id = randomHex(8); // models may use an id twice
    this.asked = { id, agent, annotations };
    this.fields = { tool, call_id: id, agent };
    this.fields.parent_event_id = session.run?.event("tool_call_started", { ...this.fields, input: call.args ?? null });
  }

  refuse(decision: Decision, result: unknown): void {
    this.session.note(decision);
    this.refused = { result, decision };
    this.session.run?.event("tool_call_blocked", { ...this.fields, output: result });
  }

  /** Calls fn with the run as the current one. */
  activate<R>(fn: () => R): R {
    return this.session.run ? this.session.run.activate(fn) : fn();
  }

  async completed(result: unknown): Promise<ToolOutcome> {
    const output = result ?? null;
    const decision = await this.end("tool_call_completed", { output }, { result: output });
    return { result: decision?.result ?? result, decision };
  }

  async failed(error: unknown): Promise<Decision | undefined> {
    const given = { error: error ?? "undefined" };
    return await this.end("tool_call_failed", given, given);
  }

  private async end(type: string, fields: EventFields, outcome: CallOutcome): Promise<Decision | undefined> {
    const durationMs = performance.now() - this.startedAt;
    this.session.run?.event(type, { ...this.fields, ...fields, latency_ms: durationMs });
    const decision = await this.session.guard?.after(this.call.tool, this.call.args, { ...outcome, durationMs }, this.asked);
    this.session.note(decision);
    return decision;
  }
}

/** Returns what the model gets instead of the result of a call that did not run. */
export function refusal(decision: Decision): { error: string; loop_blocked: true } {
  return { error: `[loop-guard] ${decision.message}`, loop_blocked: true };
}

function isRefusal(result: unknown): boolean {
  return (result as { loop_blocked?: unknown } | null | undefined)?.loop_blocked === true;
}

/** Returns a toModelOutput that passes the guard's answers on: they do not have the form of the tool's results. */
export function orRefusal(toModelOutput: (given: never) => unknown): (given: unknown) => unknown {
  return (given) => {
    // Some frameworks pass the output itself, and others an object with it.
    const value = [given, (given as { output?: unknown } | null)?.output].find(isRefusal);
    return value ? { type: "json", value } : toModelOutput(given as never);
  };
}

/** Returns the answer that ends an agent: the reason, and the last text of the model. */
export function haltAnswer(decision: Decision, lastText: string): string {
  const reason = `[loop-guard] ${decision.message}`;
  return lastText ? `${reason}\n\nWhat I had so far: ${lastText.slice(0, 2000)}` : reason;
}

/** A map of at most 10,000 entries. Entries that are never removed would accumulate, so the oldest is evicted. */
export class BoundedMap<V> {
  private readonly entries = new Map<string, V>();

  get(key: string): V | undefined {
    return this.entries.get(key);
  }

  set(key: string, value: V): void {
    this.entries.set(key, value);
    const [oldest] = this.entries.keys();
    if (this.entries.size > 10_000 && oldest !== undefined) this.entries.delete(oldest);
  }

  /** Makes an entry the newest. */
  touch(key: string): void {
    const value = this.take(key);
    if (value !== undefined) this.entries.set(key, value);
  }

  /** Returns an entry and removes it. */
  take(key: string): V | undefined {
    const value = this.entries.get(key);
    this.entries.delete(key);
    return value;
  }
}

/** Returns value if it is a positive number, else 0. */
export function count(value: unknown): number {
  return typeof value === "number" && value > 0 ? value : 0;
}
