import { failureOf, headers } from "./client";
import { Splitter, type Message } from "./sse";

export type Link = "connecting" | "live" | "waiting" | "refused" | "ended";

const firstPause = 500;
const longestPause = 15_000;
/** The server gives a sign of life every 15 seconds; after three that were missed the connection counts as lost. */
const silence = 45_000;

/** pauseBefore returns how long to wait before an attempt, in milliseconds: twice as long each time, with some chance in it. */
export function pauseBefore(attempt: number, chance: number): number {
  const pause = Math.min(firstPause * 2 ** Math.min(attempt, 16), longestPause);
  return Math.round(pause * (0.75 + chance / 2));
}

/**
 * Stream follows a stream of the server until it is stopped, and connects again by itself behind the last message that it was
 * given. Browsers' own EventSource cannot send a token, so it reads by fetch.
 */
export class Stream {
  link = $state<Link>("connecting");
  /** How often in a row it has tried in vain. */
  attempts = $state(0);
  private last = "";
  private stopped = false;
  private connection: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly path: string,
    private readonly tell: (message: Message) => void,
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

  /** Ends a pause: the next attempt comes at once. */
  retry = (): void => this.wake?.();

  /** The server has said that nothing more will come. */
  end(): void {
    this.stop();
    this.link = "ended";
  }

  private async follow(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.connect();
      } catch {
        // refused, broken off, or silent for too long: try again
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
    if (this.stopped || message.event === "dropped") return; // the connection ends by itself then
    this.tell(message);
    if (message.id) this.last = message.id;
  }
}
