import { describe, expect, it } from "vitest";
import type { Event } from "../api/names";
import { columnsOf, type Columns } from "./columns";
import { Entries } from "./entries";
import { call } from "./test_events";

/** The columns of six calls, one a step after the other. */
function columns(step: number, more: Partial<Event> = {}): Columns {
  const entries = new Entries();
  const begin = Date.UTC(2026, 2, 9, 14);
  const events = Array.from({ length: 6 }, (_, i) => call("read", i, i)).flat();
  events.forEach((e, i) => entries.add({ ...e, timestamp: new Date(begin + i * step).toISOString(), ...more }, i));
  return columnsOf(entries.list);
}

describe("the columns of the timeline", () => {
  it.each([
    ["have times and durations where the events have them", columns(250), { time: true, tokens: false, duration: true }],
    ["leave out times of arrival", columns(0), { time: false, tokens: false, duration: false }],
    ["have durations that the sender tells, without times", columns(0, { latency_ms: 40 }), { time: false, tokens: false, duration: true }],
    ["have tokens where there are some", columns(0, { tokens: 7 }), { time: false, tokens: true, duration: false }],
  ])("%s", (_, got, want) => expect(got).toEqual(want));
});
