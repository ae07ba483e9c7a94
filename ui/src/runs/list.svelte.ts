// The list of runs, loaded page by page and kept up to date by the stream of all runs.
import { api } from "../api/client";
import type { OverviewUpdate, RunSummary } from "../api/names";
import { Stream } from "../api/stream.svelte";
import { comparing, filters, matches, type Filter, type Order } from "./filter";

const pageSize = 200;
/** New runs under a filter that only the server can evaluate are requested together after this delay, in milliseconds. */
const askAfter = 400;

export class RunList {
  rows = $state.raw<RunSummary[]>([]);
  loaded = $state(false);
  error = $state.raw<unknown>(null);
  more = $state(false);
  /** The number of runs that match, of which some are not loaded yet; null if unknown. */
  total = $state<number | null>(null);
  stream = $state.raw<Stream | null>(null);
  /** Ids of runs that arrived while the page was open. Their rows are highlighted briefly. */
  fresh = $state.raw<ReadonlySet<string>>(new Set());
  private byID = new Map<string, RunSummary>();
  private next: string | null = null;
  private abort = new AbortController();
  private asking = false;
  private scheduled = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  private readonly before: (a: RunSummary, b: RunSummary) => number;

  constructor(
    private readonly filter: Filter,
    private readonly order: Order,
  ) {
    this.before = comparing(order);
    void this.load();
  }

  close(): void {
    this.abort.abort();
    this.stream?.stop();
    clearTimeout(this.timer);
  }

  load = async (): Promise<void> => {
    this.error = null;
    try {
      const page = await api.runs(this.query(), this.abort.signal);
      for (const run of page.items) this.put(run); // the stream may already have a newer version
      this.total = page.total;
      this.next = page.next;
      this.more = page.next !== null;
      this.show();
      this.loaded = true;
      const latest = page.items.reduce((most, run) => Math.max(most, run.arrival), 0);
      this.stream ??= new Stream("/api/stream", (m) => this.take(JSON.parse(m.data) as OverviewUpdate), String(latest));
    } catch (e) {
      if (!this.abort.signal.aborted) this.error = e;
    }
  };

  /** Requests the next page. */
  further = async (): Promise<void> => {
    if (this.asking || this.next === null) return;
    this.asking = true;
    try {
      const page = await api.runs(this.query(this.next), this.abort.signal);
      for (const run of page.items) this.put(run);
      this.next = page.next;
      this.more = page.next !== null;
      this.show();
    } catch {
      this.more = false; // loaded runs stay
    } finally {
      this.asking = false;
    }
  };

  private query(cursor = ""): URLSearchParams {
    const q = new URLSearchParams({ limit: String(pageSize), sort: this.order.sort, order: this.order.ascending ? "asc" : "desc" });
    for (const name of filters) if (this.filter[name]) q.set(name, this.filter[name]);
    if (cursor) q.set("cursor", cursor);
    return q;
  }

  private take(u: OverviewUpdate): void {
    if (u.type === "deleted" || u.run === null) {
      this.drop(u.run_id);
      return;
    }
    const known = this.byID.has(u.run_id);
    const belongs = matches(u.run, this.filter);
    if (belongs === false) {
      this.drop(u.run_id);
    } else if (known) {
      this.put(u.run);
      this.later();
    } else if (belongs === null) {
      this.timer ??= setTimeout(() => {
        this.timer = undefined;
        void this.load();
      }, askAfter);
    } else if (!this.behindThePage(u.run)) {
      this.put(u.run);
      this.count(1);
      this.fresh = new Set([...[...this.fresh].slice(-50), u.run_id]);
      this.later();
    }
  }

  private drop(id: string): void {
    if (!this.byID.delete(id)) return;
    this.count(-1);
    this.later();
  }

  private count(more: number): void {
    if (this.total !== null) this.total += more;
  }

  /** A run behind the last loaded one arrives with its page. */
  private behindThePage(run: RunSummary): boolean {
    const last = this.rows.at(-1);
    return this.next !== null && last !== undefined && this.before(run, last) > 0;
  }

  private put(run: RunSummary): void {
    const known = this.byID.get(run.id);
    if (known === undefined || known.arrival <= run.arrival) this.byID.set(run.id, run);
  }

  private later(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.show();
    });
  }

  private show(): void {
    this.rows = [...this.byID.values()].sort(this.before);
  }
}
