import { describe, expect, it } from "vitest";
import type { Event } from "../api/names";
import { Entries } from "./entries";
import { repeatsOf } from "./repeats";
import { call, event } from "./test_events";
import { noveltyOf } from "./novelty";
import { everything, repeatAround, rowsOf, type Timeline } from "./rows";

function timelineOf(events: Event[]): Timeline {
  const entries = new Entries();
  events.forEach((e, i) => entries.add(e, i));
  return { entries: entries.list, slowest: entries.slowest, repeats: repeatsOf(entries.list), decisions: [], entryOf: (id) => entries.entryOf(id) };
}

const model = (): Event[] => {
  const start = event({ type: "llm_call_started", model: "m" });
  return [start, event({ type: "llm_call_completed", model: "m", analysis: { call_event_id: start.event_id } })];
};
const times = (n: number, make: () => Event[]): Event[] => Array.from({ length: n }, make).flat();

describe("repeats", () => {
  it("start with the second round", () => {
    const t = timelineOf([...call("start", 1, 1), ...times(7, () => call("test", "x", "FAIL")), ...call("end", 1, 1)]);
    expect(t.repeats).toEqual([{ from: 2, to: 8, period: 1, rounds: 7 }]);
  });

  it("contain a cycle with model calls between its steps", () => {
    const t = timelineOf(times(3, () => [...model(), ...call("edit", 1, "ok"), ...model(), ...call("test", 1, "FAIL")]));
    expect(t.repeats).toEqual([{ from: 4, to: 12, period: 4, rounds: 3 }]);
  });

  it("exclude calls with different results, and two rounds", () => {
    let percent = 0;
    expect(timelineOf(times(5, () => call("status", 1, `${(percent += 10)}%`))).repeats).toEqual([]);
    expect(timelineOf(times(2, () => call("test", 1, "FAIL"))).repeats).toEqual([]);
  });

  it("exclude ranges of model calls only", () => {
    expect(timelineOf(times(5, model)).repeats).toEqual([]);
  });
});

describe("rows", () => {
  const t = timelineOf([...call("start", 1, 1), ...times(4, () => call("test", "x", "FAIL")), ...call("end", 1, 1)]);
  const repeat = t.repeats[0]!;

  it("show a repeat instead of its entries, and both once it is expanded", () => {
    const closed = rowsOf(t, new Set(), everything);
    expect(closed.map((r) => r.type)).toEqual(["entry", "entry", "repeat", "entry"]);
    const open = rowsOf(t, new Set([closed[2]!.key]), everything);
    expect(open.map((r) => r.type)).toEqual(["entry", "entry", "repeat", "entry", "entry", "entry", "entry"]);
    expect(open.map((r) => r.type === "entry" && r.inRepeat)).toEqual([false, false, false, true, true, true, false]);
  });

  it("show a decision behind its entry, and only when it differs from the one before", () => {
    const at = (entry: number, action: "warn" | "halt") => ({ run_id: "r", event_id: t.entries[entry]!.last!.event_id, event_number: entry, action, by_guard: false, code: action, message: "" });
    const rows = rowsOf({ ...t, decisions: [at(1, "warn"), at(2, "warn"), at(4, "halt")] }, new Set(), everything);
    expect(rows.map((r) => (r.type === "decision" ? r.decision.action : r.type))).toEqual(["entry", "entry", "warn", "repeat", "halt", "entry"]);
  });

  it("show only matching entries, without repeats", () => {
    expect(rowsOf(t, new Set(), { ...everything, tool: "test" }).length).toBe(4);
    expect(rowsOf(t, new Set(), { ...everything, text: "fail" }).length).toBe(4);
    expect(rowsOf(t, new Set(), { ...everything, agent: "nobody" }).length).toBe(0);
  });

  it("have unique keys, whatever ids senders choose", () => {
    const first = t.entries[2]!.first.event_id;
    const posing = timelineOf([event({ event_id: `repeat ${first}` }), ...call("start", 1, 1), ...times(4, () => call("test", "x", "FAIL"))]);
    posing.entries[posing.repeats[0]!.from]!.first.event_id = first;
    const keys = rowsOf(posing, new Set(), everything).map((r) => r.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("find the repeat that contains an entry", () => {
    expect([0, 1, 2, 4, 5].map((i) => repeatAround(t.repeats, i))).toEqual([null, null, repeat, repeat, null]);
  });
});

describe("novelty", () => {
  it("stops rising where the agent loops", () => {
    const { steps, novel } = noveltyOf(timelineOf([...call("a", 1, 1, { novel: true }), ...call("b", 1, 1, { novel: true }), ...times(3, () => call("b", 1, 1, { novel: false })), ...call("unknown", 1, 1)]).entries);
    expect([steps, novel]).toEqual([[0, 1, 2, 3, 4, 5], [0, 1, 2, 2, 2, 2]]);
  });

  it("has few points for a long run, including the last one", () => {
    let n = 0;
    const { steps, novel } = noveltyOf(timelineOf(times(1001, () => call("t", 1, `item ${n++}`, { novel: true }))).entries, 100);
    expect([steps.length <= 102, steps.at(-1), novel.at(-1)]).toEqual([true, 1001, 1001]);
  });
});
