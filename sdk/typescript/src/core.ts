// The sender of the process, and how it ends.

import { Sender, type Stats } from "./sender.js";
import { type Configuration, change, settings } from "./settings.js";

let current: Sender | undefined;
const earlier = new Set<Sender>(); // they still send events from before a change of settings
let listening = false;

/** Returns the sender. The first call creates it. */
export function sender(): Sender {
  if (!current) {
    current = new Sender(settings());
    listen();
  }
  return current;
}

/**
 * Changes settings. Members that are undefined leave their setting unchanged.
 *
 * Call it before the first event. Events that were recorded earlier are still sent to the previous endpoint.
 */
export function configure(values: Configuration): void {
  change(values);
  const before = current;
  current = undefined;
  if (!before) return;
  earlier.add(before);
  void before.close(settings().exitTimeoutMs).finally(() => earlier.delete(before));
}

function senders(): Sender[] {
  return current ? [...earlier, current] : [...earlier];
}

/**
 * Waits up to timeoutMs until the server has all events recorded so far, and resolves with whether it has. In a serverless function,
 * pass the promise to waitUntil, so that the platform waits for it.
 */
export async function flush(timeoutMs = 5000): Promise<boolean> {
  const delivered = await Promise.all(senders().map((sender) => sender.flush(timeoutMs)));
  return delivered.every(Boolean);
}

/** Sends events for up to timeoutMs, and drops the rest and later ones. It runs automatically at exit. */
export async function shutdown(timeoutMs = 5000): Promise<void> {
  await Promise.all(senders().map((sender) => sender.close(timeoutMs)));
}

/** Returns the counts of events by outcome. */
export function stats(): Stats {
  return current?.stats() ?? { given: 0, queued: 0, sent: 0, rejected: 0, dropped: 0, ignored: 0, away: false };
}

/** Drops the sender. For tests. */
export function forgetSender(): void {
  current = undefined;
}

function listen(): void {
  const process = globalThis.process;
  if (listening || typeof process?.on !== "function") return;
  listening = true;
  process.on("beforeExit", () => {
    // The event is emitted again after each flush, so a server that is away is tried once.
    if (current && current.stats().queued > 0 && !current.stats().away) void current.flush(settings().exitTimeoutMs);
  });
  process.on("exit", () => {
    for (const sender of senders()) sender.sendAtExit();
  });
}
