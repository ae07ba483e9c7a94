// A run's events in the order of the run: by sequence, else time, else arrival, whatever order they come in.
import type { Event } from "../api/names";

interface Place {
  sequence: number;
  time: number;
  tie: number;
}

function compare(a: Place, b: Place): number {
  return a.sequence - b.sequence || a.time - b.time || a.tie - b.tie;
}

/** instant returns a time in milliseconds, with what a timestamp says below them. */
export function instant(timestamp: string): number {
  const ms = Date.parse(timestamp);
  if (timestamp.length <= 24) return ms;
  const below = /\.\d{3}(\d{1,6})/.exec(timestamp)?.[1];
  return below ? ms + Number(`0.${below}`) : ms;
}

/** Change says what an update did to a ledger. */
export interface Change {
  /** From which event on the list is another than before; its length if nothing changed. */
  from: number;
}

export class Ledger {
  events: Event[] = [];
  private places: Place[] = [];
  private at = new Map<string, number>();
  private furthest: Place = { sequence: 0, time: 0, tie: 0 };
  private arrivals = 0;
  private late = false; // something came that belongs before what was there

  get length(): number {
    return this.events.length;
  }

  indexOf(id: string): number {
    return this.at.get(id) ?? -1;
  }

  /** Takes events as they arrive. One that is known already takes the place of what was known. Cost: O(new) when in order. */
  add(events: readonly Event[], removed: readonly string[] = []): Change {
    let from = removed.length > 0 ? this.remove(removed) : this.events.length;
    for (const e of events) from = Math.min(from, this.put(e));
    if (this.late) from = Math.min(from, this.sort());
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

  /** Sorts if it must, and returns from where on the order is another. */
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
    const gone = new Set(ids.filter((id) => this.at.has(id)));
    if (gone.size === 0) return this.events.length;
    const first = this.events.findIndex((e) => gone.has(e.event_id));
    this.places = this.places.filter((_, i) => !gone.has(this.events[i]!.event_id));
    this.events = this.events.filter((e) => !gone.has(e.event_id));
    this.number();
    return first;
  }

  private number(): void {
    this.at = new Map(this.events.map((e, i) => [e.event_id, i]));
  }
}
