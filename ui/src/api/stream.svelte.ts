import { failureOf, headers } from "./client";
import { Splitter, type Message } from "./sse";

export type Link = "connecting" | "live" | "waiting" | "refused" | "ended";

const firstPause = 500;
const longestPause = 15_000;
/** The server sends a heartbeat every 15 seconds. After three missed ones the connection counts as lost. */
const silence = 45_000;

/** pauseBefore returns the pause before an attempt, in milliseconds: exponential backoff with jitter. */
export function pauseBefore(attempt: number, chance: number): number {
  const pause = Math.min(firstPause * 2 ** Math.min(attempt, 16), longestPause);
  return Math.round(pause * (0.75 + chance / 2));
}

/**
 * Stream reads server-sent events until it is stopped. After a broken connection it resumes after the last message. It uses
 * fetch, because the browser's EventSource cannot send a token.
 */
export class Stream {
  link = $state<Link>("connecting");
  /** The number of failed attempts in a row. */
  attempts = $state(0);
  private last = "";
  private stopped = false;
  private connection: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly path: string,
    private readonly deliver: (message: Message) => void,
    lastEventID = "",
  ) {
    this.last = lastEventID;
    void this.follow();
  }

  stop(): void {
    this.stopped = true;
    this.connection?.abort();
    this.wake?.();
  }

  /** Ends the pause and tries at once. */
  retry = (): void => this.wake?.();

  /** Reads the stream again from its beginning. */
  restart(): void {
    this.last = "";
    this.connection?.abort();
  }

  /** The server has announced that no more messages follow. */
  end(): void {
    this.stop();
    this.link = "ended";
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.connect();
      } catch {
        // refused, interrupted, or silent for too long: try again
      }
      if (this.stopped) return;
      if (this.link !== "refused") this.link = "waiting";
      await this.pause(pauseBefore(this.attempts++, Math.random()));
    }
  }

  private pause(length: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, length);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private async connect(): Promise<void> {
    const connection = (this.connection = new AbortController());
    const more: Record<string, string> = { Accept: "text/event-stream" };
    if (this.last) more["Last-Event-ID"] = this.last;
    if (this.link !== "waiting") this.link = "connecting";
    let watch = setTimeout(() => connection.abort(), silence);
    try {
      const answer = await fetch(this.path, { headers: headers(more), signal: connection.signal, cache: "no-store" });
      if (!answer.ok || answer.body === null) {
        await failureOf(answer);
        this.link = answer.status === 401 || answer.status === 403 ? "refused" : "waiting";
        return;
      }
      this.link = "live";
      this.attempts = 0;
      const splitter = new Splitter();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || this.stopped) return;
        clearTimeout(watch);
        watch = setTimeout(() => connection.abort(), silence);
        for (const message of splitter.push(value)) this.take(message);
      }
    } finally {
      clearTimeout(watch);
      connection.abort();
    }
  }

  private take(message: Message): void {
    if (this.stopped || message.event === "dropped") return; // the server then closes the connection
    if (this.connection?.signal.aborted) return; // the rest is sent again
    const before = this.connection;
    this.deliver(message);
    if (message.id && !before?.signal.aborted) this.last = message.id;
  }
}
