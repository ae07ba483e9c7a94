// A bounded queue of events, and their delivery in batches. Recording an event never waits.

import { type Outcome, sendEvents } from "./http.js";
import { resetWarning, warnOnce } from "./log.js";
import { builtin, later } from "./runtime.js";
import type { Settings } from "./settings.js";

const BATCH_EVENTS = 1000;
const BATCH_CHARACTERS = 1 << 20;
const LINGER_MS = 50; // that the first event of a batch waits for more events
const TIMEOUT_MS = 10_000; // of one request
const BACKOFF_MS = [500, 30_000] as const; // first and longest

/** Counts of events by outcome: given = sent + dropped + queued. */
export interface Stats {
  given: number;
  /** In memory. */
  queued: number;
  sent: number;
  /** Sent, and invalid for the server. */
  rejected: number;
  /** There was no room in the queue, or the program ended. */
  dropped: number;
  /** Events without a run. They are not part of given. */
  ignored: number;
  /** The last request did not reach a server that accepts events. */
  away: boolean;
}

export class Sender {
  private readonly counts = { given: 0, sent: 0, rejected: 0, dropped: 0, ignored: 0 };
  private queue: string[] = [];
  private inFlight: string[] = [];
  private characters = 0; // of the queue and of the events in flight
  private lastSequence = 0;
  private failures = 0;
  private timer: { cancel(): void } | undefined;
  private delivery: Promise<boolean> | undefined;
  private closed = false;

  constructor(readonly settings: Settings) {}

  /** Queues an event with its id and a sequence number. tail is its JSON without the opening brace, ended by a line feed. */
  put(id: string, tail: string): void {
    // The sequence is the time in microseconds, which also orders the events of several processes in one run.
    this.lastSequence = Math.max(Date.now() * 1000, this.lastSequence + 1);
    const line = `{"event_id":${id},"sequence":${this.lastSequence},${tail}`;
    this.counts.given++;
    if (this.size >= this.settings.queueEvents || this.characters + line.length > this.settings.queueBytes || this.closed) {
      this.counts.dropped++;
      if (!this.closed) warnOnce("dropped", "events dropped: the queue is full; stats() has the count");
      return;
    }
    this.queue.push(line);
    this.characters += line.length;
    if (this.delivery) return; // its end looks at the queue again
    if (this.queue.length === BATCH_EVENTS && this.failures === 0) this.schedule(0);
    else if (!this.timer) this.schedule(LINGER_MS);
  }

  private get size(): number {
    return this.queue.length + this.inFlight.length;
  }

  ignore(): void {
    this.counts.ignored++;
  }

  stats(): Stats {
    return { ...this.counts, queued: this.size, away: this.failures > 0 };
  }

  /** Waits up to timeoutMs until the server has all events recorded before, and returns whether it has. */
  async flush(timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(Math.min(Math.max(timeoutMs, 0), 2 ** 31 - 1));
    while (this.size > 0) {
      const delivered = await within(this.deliver(signal), signal);
      if (!delivered && (signal.aborted || this.failures > 0)) return false;
    }
    return true;
  }

  /** Sends events for up to timeoutMs, and drops the rest and later ones. */
  async close(timeoutMs: number): Promise<void> {
    await this.flush(timeoutMs);
    this.closed = true;
    this.timer?.cancel();
    const left = this.take();
    if (left.length > 0) warnOnce("closed", `${left.length} events dropped: the server did not accept them in time`);
  }

  /** Removes all events that the server does not have and returns them. */
  take(): string[] {
    const left = [...this.inFlight, ...this.queue];
    this.counts.dropped += left.length;
    this.queue = [];
    this.inFlight = [];
    this.characters = 0;
    return left;
  }

  /** Sends all events in a process of its own and waits for it: at the end of the program nothing asynchronous runs any more. */
  sendAtExit(): void {
    const node = globalThis.process?.release?.name === "node" && !globalThis.process.versions.electron;
    if (this.size === 0 || !node) return;
    const away = this.failures > 0;
    const left = this.take();
    if (away || !this.sendAndWait(left)) {
      warnOnce("exit", `${left.length} events dropped: the server did not accept them at the end of the program`);
      return;
    }
    this.counts.dropped -= left.length;
    this.counts.sent += left.length;
  }

  private sendAndWait(lines: string[]): boolean {
    const { endpoint, token, exitTimeoutMs } = this.settings;
    const script = `
      const headers = { "Content-Type": "application/x-ndjson" };
      if (process.env.UNLOOP_TOKEN) headers.Authorization = "Bearer " + process.env.UNLOOP_TOKEN;
      const lines = require("node:fs").readFileSync(0, "utf8").split(/(?<=\\n)/);
      (async () => {
        for (let n = 0; n < lines.length; n += ${BATCH_EVENTS}) {
          const body = lines.slice(n, n + ${BATCH_EVENTS}).join("");
          if (!(await fetch(process.env.UNLOOP_URL, { method: "POST", headers, body })).ok) process.exit(1);
        }
      })().catch(() => process.exit(1));`;
    const done = builtin("node:child_process")?.spawnSync(process.execPath, ["-e", script], {
      input: lines.join(""),
      timeout: exitTimeoutMs,
      env: { ...process.env, NODE_OPTIONS: "", UNLOOP_URL: `${endpoint}/api/events`, UNLOOP_TOKEN: token },
      stdio: ["pipe", "ignore", "ignore"],
      windowsHide: true,
    });
    return done?.status === 0;
  }

  private schedule(delayMs: number): void {
    this.timer?.cancel();
    this.timer = later(() => {
      this.timer = undefined;
      void this.deliver();
    }, delayMs);
  }

  /** Sends the events that are queued. Resolves with whether the server accepted all. There is one delivery at a time. */
  private deliver(signal?: AbortSignal): Promise<boolean> {
    this.delivery ??= this.drain(signal).finally(() => {
      this.delivery = undefined;
      if (this.queue.length > 0 && !this.timer && !this.closed) this.schedule(LINGER_MS);
    });
    return this.delivery;
  }

  private async drain(signal?: AbortSignal): Promise<boolean> {
    this.timer?.cancel();
    this.timer = undefined;
    while (this.queue.length > 0 && !signal?.aborted) {
      this.inFlight = this.nextBatch();
      const left = await this.send(this.inFlight, signal);
      if (this.inFlight.length === 0) return false; // take() has them
      this.characters -=
        this.inFlight.reduce((sum, line) => sum + line.length, 0) - left.reduce((sum, line) => sum + line.length, 0);
      this.inFlight = [];
      this.queue = left.length > 0 ? [...left, ...this.queue] : this.queue;
      if (left.length > 0) return false;
    }
    return this.queue.length === 0;
  }

  private nextBatch(): string[] {
    let number = 0;
    for (let size = 0; number < Math.min(this.queue.length, BATCH_EVENTS) && size < BATCH_CHARACTERS; number++) {
      size += (this.queue[number] as string).length;
    }
    return this.queue.splice(0, number);
  }

  /** Sends lines, and returns those that the server does not have. */
  private async send(lines: string[], signal?: AbortSignal): Promise<string[]> {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const { endpoint, token } = this.settings;
    const outcome = await sendEvents(endpoint, token, lines, signal ? AbortSignal.any([timeout, signal]) : timeout);
    if (this.inFlight.length === 0) return [];
    if (outcome.kind === "unavailable") {
      this.failed(outcome);
      return lines;
    }
    if (outcome.kind === "too large" && lines.length > 1) {
      const middle = lines.length >> 1;
      const left = await this.send(lines.slice(0, middle), signal);
      return left.length > 0 ? [...left, ...lines.slice(middle)] : await this.send(lines.slice(middle), signal);
    }
    this.counts.sent += lines.length;
    const rejected = outcome.kind === "too large" ? 1 : outcome.rejected;
    if (rejected > 0) {
      this.counts.rejected += rejected;
      warnOnce("rejected", `the server rejected an event: ${outcome.kind === "too large" ? "it is too large" : outcome.reason}`);
    }
    if (this.failures > 0) {
      this.failures = 0;
      resetWarning("away");
    }
    return [];
  }

  private failed(outcome: Extract<Outcome, { kind: "unavailable" }>): void {
    const [first, longest] = BACKOFF_MS;
    const pause = Math.min(first * 2 ** Math.min(this.failures, 16), longest) * (0.5 + Math.random() / 2);
    this.failures++;
    warnOnce("away", `${outcome.reason}; events are kept in memory and sent later`);
    if (!this.closed) this.schedule(Math.max(pause, outcome.retryAfterMs));
  }
}

/** Resolves with what promise gives, or with false when the signal is aborted. */
function within(promise: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(false), { once: true });
    void promise.then(resolve);
  });
}
