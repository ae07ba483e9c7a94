// A run, read from its stream and prepared for the page.
import { api } from "../api/client";
import type { Decision, Metrics, RunDetails, RunUpdate, Warning } from "../api/names";
import { Stream } from "../api/stream.svelte";
import { segmentOf } from "../route/segment";
import { Entries } from "../timeline/entries";
import { repeatsOf } from "../timeline/repeats";
import { EventLog } from "../timeline/event_log";
import type { Timeline } from "../timeline/rows";
import { WarningList } from "./warning_list";

const nothing: Timeline = { entries: [], slowest: 0, repeats: [], decisions: [], entryOf: () => -1 };

/** The minimum interval between requests for the summary, in milliseconds. The stream does not contain the summary. */
const summaryEvery = 1000;

export class RunFeed {
  summary = $state.raw<RunDetails | null>(null);
  metrics = $state.raw<Metrics | null>(null);
  warnings = $state.raw<readonly Warning[]>([]);
  timeline = $state.raw<Timeline>(nothing);
  agents = $state.raw<readonly string[]>([]);
  /** The number of loaded events. */
  events = $state(0);
  status = $state("");
  error = $state.raw<unknown>(null);
  /** No run has this id yet. */
  missing = $state(false);
  deleted = $state(false);
  stream = $state.raw<Stream | null>(null);
  /** The run has ended. A later event may reopen it. */
  over = $derived(this.summary !== null && this.status !== "running");

  private readonly eventLog = new EventLog();
  private entries = new Entries();
  private decisions = new Map<string, Decision>();
  private readonly warned = new WarningList();
  private readonly abort = new AbortController();
  private drawing = false;
  private nextDraw = 0; // the earliest time of the next draw
  private asked = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {
    void this.ask();
    this.stream = new Stream(`/api/runs/${segmentOf(id)}/stream?warnings=changed`, (m) => this.take(JSON.parse(m.data) as RunUpdate));
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
    } catch (e) {
      if (this.abort.signal.aborted) return;
      this.missing = (e as { status?: number }).status === 404;
      if (!this.missing && this.summary === null) this.error = e;
    }
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
    if (u.type === "deleted") {
      this.deleted = true;
      this.stream?.end();
      return;
    }
    this.missing = false;
    this.metrics = u.metrics;
    this.status = u.status;
    if (this.warned.take(u)) this.warnings = this.warned.list();
    for (const d of u.decisions ?? []) this.decisions.set(`${d.event_id} ${d.code}`, d);
    this.record(u);
    if (u.decisions_invalidated) void this.reread();
    if (u.analyses_reset) this.stream?.restart(); // the events are sent again with their new analyses
    this.askSoon();
    this.draw();
  }

  private record(u: RunUpdate): void {
    const before = this.eventLog.length;
    const changed = this.eventLog.add(u.events ?? [], u.removed ?? []).from;
    const from = Math.min(changed, this.eventLog.reanalyze(u.analyses ?? []).from);
    if (from < before) this.entries = new Entries(); // a late event may change any entry
    for (let i = from < before ? 0 : before; i < this.eventLog.length; i++) this.entries.add(this.eventLog.events[i]!, i);
  }

  private async reread(): Promise<void> {
    try {
      const all = await api.decisions(this.id, this.abort.signal);
      this.decisions = new Map(all.map((d) => [`${d.event_id} ${d.code}`, d]));
      this.draw();
    } catch {
      // the next update that invalidates decisions asks again
    }
  }

  /** Draws with the next frame. While a long run is loading, it pauses between draws, so that the page stays responsive. */
  private draw(): void {
    if (this.drawing) return;
    this.drawing = true;
    const frame = () =>
      requestAnimationFrame(() => {
        this.drawing = false;
        const began = performance.now();
        this.show();
        const took = performance.now() - began;
        this.nextDraw = took > 8 ? began + took + Math.min(took * 4, 400) : 0;
      });
    const rest = this.nextDraw - performance.now();
    if (rest > 0) setTimeout(frame, rest);
    else frame();
  }

  private show(): void {
    const { entries } = this;
    this.events = this.eventLog.length;
    if (this.agents.length !== entries.agents.length) this.agents = [...entries.agents];
    this.timeline = {
      entries: entries.list,
      slowest: entries.slowest,
      repeats: repeatsOf(entries.list),
      decisions: [...this.decisions.values()].sort((a, b) => a.event_number - b.event_number),
      entryOf: (event) => entries.entryOf(event),
    };
  }
}
