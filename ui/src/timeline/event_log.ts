// The events of a run in run order: by sequence, else by time, else by arrival.
import type { Event, EventAnalysis } from "../api/names";

interface Place {
  sequence: number;
  time: number;
  tie: number;
}

function compare(a: Place, b: Place): number {
  return a.sequence - b.sequence || a.time - b.time || a.tie - b.tie;
}

/** instant returns a time in milliseconds since the epoch, with the fraction of the timestamp. */
export function instant(timestamp: string): number {
  const ms = Date.parse(timestamp);
  if (timestamp.length <= 24) return ms;
  const below = /\.\d{3}(\d{1,6})/.exec(timestamp)?.[1];
  return below ? ms + Number(`0.${below}`) : ms;
}

/** Change describes the effect of an update on an event log. */
export interface Change {
  /** The index of the first changed event; the length of the list if nothing changed. */
  from: number;
}

export class EventLog {
  events: Event[] = [];
  private places: Place[] = [];
  private at = new Map<string, number>();
  private furthest: Place = { sequence: 0, time: 0, tie: 0 };
  private arrivals = 0;
  private late = false; // an event arrived that belongs before an earlier arrival

  get length(): number {
    return this.events.length;
  }

  indexOf(id: string): number {
    return this.at.get(id) ?? -1;
  }

  /** Adds events as they arrive. An event with a known id replaces the old version. Cost: O(new) when in order. */
  add(events: readonly Event[], removed: readonly string[] = []): Change {
    let from = removed.length > 0 ? this.remove(removed) : this.events.length;
    for (const e of events) from = Math.min(from, this.put(e));
    if (this.late) from = Math.min(from, this.sort());
    return { from };
  }

  /** Replaces the analyses of events. Unknown events are ignored. */
  reanalyze(changed: readonly EventAnalysis[]): Change {
    let from = this.events.length;
    for (const { event_id, analysis } of changed) {
      const index = this.at.get(event_id);
      if (index === undefined) continue;
      this.events[index] = { ...this.events[index]!, analysis };
      from = Math.min(from, index);
    }
    return { from };
  }

  private put(e: Event): number {
    const known = this.at.get(e.event_id);
    if (known !== undefined) {
      this.events[known] = e;
      return known;
    }
    const place = {
      sequence: e.sequence || this.furthest.sequence,
      time: instant(e.timestamp) || this.furthest.time,
      tie: ++this.arrivals,
    };
    const index = this.events.length;
    this.events.push(e);
    this.places.push(place);
    this.at.set(e.event_id, index);
    if (compare(place, this.furthest) > 0) this.furthest = place;
    else this.late = true;
    return index;
  }

  /** Sorts the events and returns the index of the first that moved. */
  private sort(): number {
    this.late = false;
    const order = this.places.map((_, i) => i).sort((a, b) => compare(this.places[a]!, this.places[b]!));
    const moved = order.findIndex((from, to) => from !== to);
    if (moved < 0) return this.events.length;
    this.events = order.map((i) => this.events[i]!);
    this.places = order.map((i) => this.places[i]!);
    this.number();
    return moved;
  }

  private remove(ids: readonly string[]): number {
    const removed = new Set(ids.filter((id) => this.at.has(id)));
    if (removed.size === 0) return this.events.length;
    const first = this.events.findIndex((e) => removed.has(e.event_id));
    this.places = this.places.filter((_, i) => !removed.has(this.events[i]!.event_id));
    this.events = this.events.filter((e) => !removed.has(e.event_id));
    this.number();
    return first;
  }

  private number(): void {
    this.at = new Map(this.events.map((e, i) => [e.event_id, i]));
  }
}
