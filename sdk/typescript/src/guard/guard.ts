// Guard, the interface for an agent's code.

import { isLogged, log, resetWarning, warnOnce } from "../log.js";
import { asInput } from "../observe.js";
import { randomHex } from "../runtime.js";
import { errorText, serialize, shorten, truncate } from "../serialize.js";
import { settings } from "../settings.js";
import { attach, nudgeError } from "./attach.js";
import { processFor } from "./child.js";
import { type Answer, Decision, GuardUnavailable, VALUE_CHARACTERS } from "./decision.js";
import { findProgram } from "./program.js";
import { Remote } from "./remote.js";
import { report } from "./report.js";
import { type RunState, type Transport, Unavailable } from "./transport.js";

const MAX_RUN = 200; // bytes of a run's name
const START_MS = 5000; // least timeout of the first request, which may start a process
const HELP =
  "install the package for this platform, set UNLOOP_BIN to the program, or set UNLOOP_ENDPOINT to a server; " +
  'onMissing: "warn" lets the agent run unguarded';

export interface GuardOptions {
  /** The default is "default". */
  profile?: string;
  /** Settings of the profile. */
  settings?: Record<string, unknown>;
  /** A server that decides instead of a child process. */
  endpoint?: string;
  /** The default is the token of the package's settings. */
  token?: string;
  /** The id of the run. The default is a random id. A server shows decisions in the run that the package records under this id. */
  run?: string;
  /** The limit for one decision, in milliseconds. The default is 2000. */
  timeoutMs?: number;
  /** What happens if no guard answers at the start. The default "refuse" rejects the first call with GuardUnavailable. */
  onMissing?: "refuse" | "warn";
}

/** The hints of a tool as defined by the Model Context Protocol. */
export interface Annotations {
  readOnlyHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
}

/** What is known of a call. after() needs the id that before() had. */
export interface Call {
  id?: string | undefined;
  agent?: string | undefined;
  annotations?: Annotations | undefined;
}

/** How a call ended: with a result or with an error. A call with neither ended without a known outcome. */
export interface CallOutcome {
  result?: unknown;
  error?: unknown;
  durationMs?: number | undefined;
}

/**
 * Guards one run.
 *
 * Without an endpoint, decisions come from a child process that all guards with this profile and these settings share, or from the
 * server of the package's settings (UNLOOP_ENDPOINT) if the program is not installed.
 *
 * If no guard answers within 5 seconds at the start, the first call rejects with GuardUnavailable; with onMissing: "warn" this is
 * logged, and the agent runs unguarded until there is one. A guard that becomes unavailable later does not stop the agent: until it is
 * back, every decision is "allow" with the code "unguarded".
 */
export class Guard {
  readonly id: string;
  private readonly state: RunState;
  private readonly shared: Shared;

  constructor(options: GuardOptions = {}, shared = new Shared(options)) {
    this.shared = shared;
    this.id = options.run ? shorten(options.run, MAX_RUN) : randomHex(8);
    this.state = shared.transport.runState(this.id);
  }

  /** Resolves with this guard when it has answered. Rejects with GuardUnavailable. The first call does the same. */
  async ready(): Promise<this> {
    await this.shared.start();
    return this;
  }

  /** Returns the guard of another run on the same process or server. */
  run(id?: string): Guard {
    return new Guard(id ? { run: id } : {}, this.shared);
  }

  /** Decides about a call before it runs. If the decision is stopped, do not run it, and pass the decision's result to the model. */
  async before(tool: string, args?: unknown, call: Call = {}): Promise<Decision> {
    return await this.decide("before", json({ tool, ...call }) + value("args", args));
  }

  /** Reports the outcome of a call. If the decision has a result, pass it to the model instead of the tool's result. */
  async after(tool: string, args: unknown, { result, error, durationMs }: CallOutcome, call: Call = {}): Promise<Decision> {
    const message = error === undefined ? undefined : truncate(errorText(error), VALUE_CHARACTERS);
    const sent = result === undefined ? undefined : serialize(result, VALUE_CHARACTERS);
    const members = json({ tool, ...call, error: message, duration_ms: durationMs });
    const answer = await this.ask("after", members + value("args", args) + (sent ? `,"result":${sent.json}` : ""));
    if (sent && !sent.exact && "result" in answer) answer.result = attach(result, JSON.parse(sent.json), answer.result);
    return report(this.state, new Decision(answer));
  }

  /** Reports a message. role is assistant, user or system. */
  async text(text: string, { role = "assistant", agent }: { role?: string; agent?: string | undefined } = {}): Promise<Decision> {
    return await this.decide("text", json({ text: truncate(text, VALUE_CHARACTERS), role, agent }));
  }

  /** Reports that the user starts a turn, with the user's text if it is known. */
  async user(text?: string): Promise<Decision> {
    return await this.report("user", text);
  }

  /** Reports that the agent made progress, with an optional description. */
  async progress(text?: string): Promise<Decision> {
    return await this.report("progress", text);
  }

  /** Reports that a person allows the agent to continue, with an optional reason. */
  async allow(text?: string): Promise<Decision> {
    return await this.report("allow", text);
  }

  private async report(op: string, text: string | undefined): Promise<Decision> {
    return await this.decide(op, json({ text: text === undefined ? undefined : truncate(text, VALUE_CHARACTERS) }));
  }

  private async decide(op: string, members: string): Promise<Decision> {
    return report(this.state, new Decision(await this.ask(op, members)));
  }

  /** Resolves with calls, warnings and health of the run; with undefined if no guard is available. */
  async runState(): Promise<Answer | undefined> {
    return objectOf((await this.ask("state")).state);
  }

  /** Resolves with the counts of the run's decisions by action and code; with undefined if no guard is available. */
  async stats(): Promise<Answer | undefined> {
    return objectOf((await this.ask("stats")).stats);
  }

  /** Clears the run's history. Resolves with whether the guard did it. */
  async reset(): Promise<boolean> {
    const done = (await this.ask("reset")).ok === true;
    this.state.snapshot = "";
    this.state.linesSinceSnapshot = 0;
    return done;
  }

  /** Resolves with the run's state for restore(), in this or another process; with undefined if no guard is available. */
  async snapshot(): Promise<Answer | undefined> {
    return objectOf((await this.ask("snapshot")).snapshot);
  }

  /** Sets the run to the state of the snapshot. Resolves with whether the guard did it. */
  async restore(snapshot: Answer): Promise<boolean> {
    const text = JSON.stringify(snapshot);
    const done = (await this.ask("restore", `,"snapshot":${text}`)).ok === true;
    if (done) this.state.snapshot = text;
    return done;
  }

  /** Deletes the run in the guard. */
  async close(): Promise<void> {
    if (this.state.generation !== undefined) await this.reset();
    this.shared.transport.drop(this.id);
  }

  /**
   * Returns fn with a guard around each call. A blocked call resolves with the decision's result without running fn. A nudge is attached
   * to the result, and to the message of an error. When the run must end, the call rejects with LoopError.
   */
  wrap<Args extends unknown[], R>(
    fn: (...args: Args) => R,
    { name = fn.name || "function", annotations }: { name?: string; annotations?: Annotations } = {},
  ): (...args: Args) => Promise<Awaited<R>> {
    const guard = this;
    return async function (this: unknown, ...args: Args): Promise<Awaited<R>> {
      const input = asInput(args);
      const call: Call = { id: randomHex(8), annotations };
      const decision = (await guard.before(name, input, call)).check();
      if (decision.stopped) return decision.result as Awaited<R>;
      const started = performance.now();
      let result: Awaited<R>;
      try {
        result = await fn.apply(this, args);
      } catch (error) {
        const failed = await guard.after(
          name,
          input,
          { error: error ?? "undefined", durationMs: performance.now() - started },
          call,
        );
        nudgeError(error, failed.check());
        throw error;
      }
      const ended = await guard.after(name, input, { result: result ?? null, durationMs: performance.now() - started }, call);
      return (ended.check().result as Awaited<R> | undefined) ?? result;
    };
  }

  /** Resolves with the response, or an empty object if there is none. Rejects only at the start, with GuardUnavailable. */
  private async ask(op: string, members = ""): Promise<Answer> {
    if (!settings().enabled) return {};
    if (!this.shared.started) await this.shared.start();
    return await this.shared.ask(this.state, `{"op":"${op}","run":${JSON.stringify(this.id)}${members}}\n`);
  }
}

/** What the guards of several runs share. */
class Shared {
  readonly transport: Transport;
  private readonly timeoutMs: number;
  started = false;
  private starting: Promise<void> | undefined;
  private readonly onMissing: "refuse" | "warn";

  constructor(options: GuardOptions) {
    this.onMissing = options.onMissing ?? "refuse";
    if (!["refuse", "warn"].includes(this.onMissing)) {
      throw new TypeError(`invalid onMissing "${this.onMissing}": want "refuse" or "warn"`);
    }
    this.timeoutMs = options.timeoutMs ?? 2000;
    this.transport = transportFor(options);
  }

  /** Asks the guard for the first time. */
  start(): Promise<void> {
    if (!settings().enabled || this.started) return Promise.resolve();
    this.starting ??= this.startNow().finally(() => {
      this.starting = undefined;
    });
    return this.starting;
  }

  private async startNow(): Promise<void> {
    const why = await this.attempt(this.transport.runState(""), '{"op":"stats"}\n', Math.max(this.timeoutMs, START_MS));
    if (typeof why === "string" && this.onMissing === "refuse")
      throw new GuardUnavailable(`no guard is available: ${why} (${HELP})`);
    if (typeof why === "string") unguarded(why);
    this.started = true;
  }

  /** Resolves with the response, or an empty object if there is none, which is logged. */
  async ask(state: RunState, line: string): Promise<Answer> {
    const answer = await this.attempt(state, line, this.timeoutMs);
    if (typeof answer === "string") return unguarded(answer);
    if (isLogged("unguarded")) {
      resetWarning("unguarded");
      log("the agent is guarded again");
    }
    return answer;
  }

  /** Resolves with the response, or with the reason why there is none. */
  private async attempt(state: RunState, line: string, timeoutMs: number): Promise<Answer | string> {
    try {
      const answer = await this.transport.ask(state, line, timeoutMs);
      const error = objectOf(answer.error);
      return error ? `the guard rejects a request (${error.code})` : answer;
    } catch (error) {
      if (error instanceof Unavailable) return error.message;
      throw error;
    }
  }
}

function unguarded(why: string): Answer {
  warnOnce("unguarded", `the agent runs unguarded: ${why}`);
  return {};
}

function transportFor({ profile = "default", settings: given = {}, endpoint, token }: GuardOptions): Transport {
  const configured = settings();
  const list = Object.entries(given).map(([name, value]): [string, string] => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const remote = endpoint || (configured.enabled && !hasProgram() ? configured.endpoint : "");
  return remote ? new Remote(remote, token ?? configured.token, profile, list) : processFor(profile, list.sort());
}

/** Reports whether a child process can be tried. A wrong UNLOOP_BIN can: its error names the mistake. */
function hasProgram(): boolean {
  try {
    return findProgram() !== "";
  } catch {
    return true;
  }
}

/** Returns the members that are not undefined, each after a comma. */
function json(members: Record<string, unknown>): string {
  const text = JSON.stringify(members);
  return text === "{}" ? "" : `,${text.slice(1, -1)}`;
}

function value(name: string, item: unknown): string {
  return item === undefined ? "" : `,"${name}":${serialize(item, VALUE_CHARACTERS).json}`;
}

function objectOf(value: unknown): Answer | undefined {
  return typeof value === "object" && value !== null ? (value as Answer) : undefined;
}
