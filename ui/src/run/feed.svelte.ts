// A run as its stream tells it, made ready for the page.
import { api } from "../api/client";
import type { Decision, Metrics, Replay, RunSummary, RunUpdate, Warning } from "../api/names";
import { Stream } from "../api/stream.svelte";
import { Entries } from "../timeline/entries";
import { foldsOf } from "../timeline/folds";
import { Ledger } from "../timeline/ledger";
import type { Timeline } from "../timeline/rows";

export type HealthPoint = NonNullable<Replay["health"]>[number];

/** The server tells how the health of a run went by judging it anew, which is not worth its time for longer ones. */
const longestHealth = 20_000;

const nothing: Timeline = { entries: [], slowest: 0, folds: [], decisions: [], entryOf: () => -1 };

/** The summary, which the stream does not tell, is asked for again at most this often, in milliseconds. */
const summaryEvery = 1000;

export class RunFeed {
  summary = $state.raw<RunSummary | null>(null);
  metrics = $state.raw<Metrics | null>(null);
  warnings = $state.raw<readonly Warning[]>([]);
  timeline = $state.raw<Timeline>(nothing);
  agents = $state.raw<readonly string[]>([]);
  /** Events that are on the page. */
  events = $state(0);
  status = $state("");
  /** How the health went: at each event number from which on it is another. */
  health = $state.raw<readonly HealthPoint[]>([]);
  error = $state.raw<unknown>(null);
  /** There is no run of this id yet. */
  missing = $state(false);
  gone = $state(false);
  stream = $state.raw<Stream | null>(null);

  private readonly ledger = new Ledger();
  private entries = new Entries();
  private decisions = new Map<string, Decision>();
  private readonly abort = new AbortController();
  private drawing = false;
  private drawn = 0; // how long it took last time
  private asked = 0;
  private judged = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {
    void this.ask();
    this.stream = new Stream(`/api/runs/${encodeURIComponent(id)}/stream`, (m) => this.take(JSON.parse(m.data) as RunUpdate));
  }

  close(): void {
    this.abort.abort();
    this.stream?.stop();
    clearTimeout(this.timer);
  }

  private async ask(): Promise<void> {
    this.asked = Date.now();
    try {
      this.summary = await api.run(this.id, this.abort.signal);
      this.status = this.summary.status;
      this.missing = false;
      this.error = null;
      if (this.health.length === 0 && !this.judged) void this.judge();
    } catch (e) {
      if (this.abort.signal.aborted) return;
      this.missing = (e as { status?: number }).status === 404;
      if (!this.missing && this.summary === null) this.error = e;
    }
  }

  /** Asks how the health went before the page was opened. Without an answer the line begins where the page did. */
  private async judge(): Promise<void> {
    this.judged = true;
    if ((this.summary?.event_count ?? Infinity) > longestHealth) return;
    for (let attempt = 0; attempt < 5 && !this.abort.signal.aborted; attempt++) {
      try {
        const { health, events } = await api.replay(this.id, "", {}, this.abort.signal);
        this.health = [...(health ?? []), ...this.health.filter((p) => p.event_number >= events)];
        return;
      } catch (e) {
        if ((e as { status?: number }).status !== 429) return;
        await new Promise((later) => setTimeout(later, 1000 + 1000 * attempt));
      }
    }
  }

  /** Takes down the health as it stands now. */
  private note(m: Metrics): void {
    if (this.health.at(-1)?.health_score === m.health_score) return;
    this.health = [...this.health, { event_number: Math.max(m.total_events - 1, 0), health_score: m.health_score }].slice(-1000);
  }

  private askSoon(): void {
    if (this.timer !== undefined) return;
    this.timer = setTimeout(
      () => {
        this.timer = undefined;
        void this.ask();
      },
      Math.max(this.asked + summaryEvery - Date.now(), 50),
    );
  }

  private take(u: RunUpdate): void {
    if (u.type === "gone") {
      this.gone = true;
      this.stream?.end();
      return;
    }
    this.missing = false;
    this.metrics = u.metrics;
    this.status = u.status;
    if (u.metrics && this.judged) this.note(u.metrics);
    this.warnings = u.warnings ?? [];
    for (const d of u.decisions ?? []) this.decisions.set(`${d.event_id} ${d.code}`, d);
    this.record(u);
    if (u.decisions_undone) void this.reread();
    this.askSoon();
    this.draw();
  }

  private record(u: RunUpdate): void {
    const before = this.ledger.length;
    const { from } = this.ledger.add(u.events ?? [], u.removed ?? []);
    if (from < before) this.entries = new Entries(); // something came late: what an entry is may be another
    for (let i = from < before ? 0 : before; i < this.ledger.length; i++) this.entries.add(this.ledger.events[i]!, i);
  }

  private async reread(): Promise<void> {
    try {
      const all = await api.decisions(this.id, this.abort.signal);
      this.decisions = new Map(all.map((d) => [`${d.event_id} ${d.code}`, d]));
      this.draw();
    } catch {
      // the next update that undoes decisions asks again
    }
  }

  /** Draws with the next frame; a long run that is still coming in is drawn less often, so that reading it goes on. */
  private draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    const frame = () =>
      requestAnimationFrame(() => {
        this.drawing = false;
        const began = performance.now();
        this.show();
        this.drawn = performance.now() - began;
      });
    if (this.drawn > 8) setTimeout(frame, Math.min(this.drawn * 4, 400));
    else frame();
  }

  private show(): void {
    const { entries } = this;
    this.events = this.ledger.length;
    if (this.agents.length !== entries.agents.length) this.agents = [...entries.agents];
    this.timeline = {
      entries: entries.list,
      slowest: entries.slowest,
      folds: foldsOf(entries.list),
      decisions: [...this.decisions.values()].sort((a, b) => a.event_number - b.event_number),
      entryOf: (event) => entries.entryOf(event),
    };
  }
}
