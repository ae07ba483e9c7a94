// observe() records the calls of a function as events.

import { asAgent, countIgnored, currentRun, type EventFields, type Run, trace } from "./run.js";
import { randomHex } from "./runtime.js";
import { settings } from "./settings.js";
import { whenSettled } from "./settled.js";

export type Kind = "tool" | "llm" | "agent" | "chain";

export interface ObserveOptions {
  /** The default is "tool". */
  kind?: Kind;
  /** The default is the name of the function. */
  name?: string;
}

const prefixes = { tool: "tool_call", llm: "llm_call", agent: "agent", chain: "chain" } as const;

/**
 * Records each call of a function: one event with its arguments at the start, and one with its outcome at the end.
 *
 * It supports plain and async functions and async generators. Within a call of kind "agent", all events carry that agent's name;
 * without a current run the call is a run. Throws a TypeError for another kind.
 */
export function observe<Args extends unknown[], R>(
  fn: (...args: Args) => R,
  { kind = "tool", name = fn.name || "function" }: ObserveOptions = {},
): (...args: Args) => R {
  if (!(kind in prefixes)) throw new TypeError(`invalid kind "${kind}": want one of ${Object.keys(prefixes).join(", ")}`);
  return function (this: unknown, ...args: Args): R {
    const call = (): R => fn.apply(this, args);
    if (!settings().enabled) return call();
    const run = currentRun();
    if (run) return record(run, kind, name, args, call);
    if (kind === "agent") return trace(name, (own) => record(own, kind, name, args, call));
    countIgnored();
    return call();
  };
}

/** Returns the arguments of a call as one value: a single argument is itself, several are a list. */
export function asInput(args: unknown[]): unknown {
  return args.length <= 1 ? args[0] : args;
}

function record<R>(run: Run, kind: Kind, name: string, args: unknown[], call: () => R): R {
  const of: EventFields = { call_id: randomHex(6), [kind === "tool" ? "tool" : kind === "llm" ? "model" : "name"]: name };
  if (kind === "agent") of.agent = name;
  const started = performance.now();
  const parent = run.event(`${prefixes[kind]}_started`, { ...of, input: asInput(args) });
  const end = (how: "completed" | "failed", outcome: EventFields): void => {
    run.event(`${prefixes[kind]}_${how}`, { ...of, ...outcome, latency_ms: performance.now() - started, parent_event_id: parent });
  };
  return whenSettled(
    call,
    (part) => (kind === "agent" ? asAgent(name, part) : part()),
    (result) => end("completed", { output: result ?? null }),
    (error) => end("failed", { error: error ?? "undefined" }),
  );
}
