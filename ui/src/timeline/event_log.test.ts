import { describe, expect, it } from "vitest";
import { instant, EventLog } from "./event_log";
import { event } from "./test_events";

const ids = (l: EventLog): string[] => l.events.map((e) => e.event_id);

describe("an event log", () => {
  it("keeps events that arrive in order, and reports no earlier change", () => {
    const l = new EventLog();
    expect(l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "b", sequence: 2 })])).toEqual({ from: 0 });
    expect(l.add([event({ event_id: "c", sequence: 3 })])).toEqual({ from: 2 });
    expect(ids(l)).toEqual(["a", "b", "c"]);
  });

  it("inserts a late event in order and returns the first changed index", () => {
    const l = new EventLog();
    l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "c", sequence: 3 })]);
    expect(l.add([event({ event_id: "b", sequence: 2 })])).toEqual({ from: 1 });
    expect(ids(l)).toEqual(["a", "b", "c"]);
    expect([l.indexOf("a"), l.indexOf("b"), l.indexOf("c"), l.indexOf("d")]).toEqual([0, 1, 2, -1]);
  });

  it("replaces an event that arrives again", () => {
    const l = new EventLog();
    l.add([event({ event_id: "a", sequence: 1, text: "old" }), event({ event_id: "b", sequence: 2 })]);
    expect(l.add([event({ event_id: "a", sequence: 1, text: "new" })])).toEqual({ from: 0 });
    expect(l.events.map((e) => e.text)).toEqual(["new", null]);
  });

  it("places an event without a sequence behind the last one, and sorts by fractions of milliseconds", () => {
    const l = new EventLog();
    l.add([
      event({ event_id: "a", timestamp: "2026-03-09T14:02:00.000200Z" }),
      event({ event_id: "b", timestamp: "2026-03-09T14:02:00.000100Z" }),
      event({ event_id: "c", timestamp: "2026-03-09T14:02:00.000200Z" }),
    ]);
    expect(ids(l)).toEqual(["b", "a", "c"]);
    expect(instant("2026-03-09T14:02:00.123456Z") - instant("2026-03-09T14:02:00.123Z")).toBeCloseTo(0.456, 3);
  });

  it("replaces the analyses of the events that it has", () => {
    const l = new EventLog();
    const [a, b] = [event({ event_id: "a", sequence: 1, analysis: { call: "x" } }), event({ event_id: "b", sequence: 2 })];
    l.add([a, b]);
    expect(l.reanalyze([{ event_id: "b", analysis: { call: "y", novel: false } }, { event_id: "unknown", analysis: null }])).toEqual({ from: 1 });
    expect(l.events).toEqual([a, { ...b, analysis: { call: "y", novel: false } }]);
    expect([b.analysis, l.reanalyze([])]).toEqual([null, { from: 2 }]);
  });

  it("removes events", () => {
    const l = new EventLog();
    l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "b", sequence: 2 }), event({ event_id: "c", sequence: 3 })]);
    expect(l.add([], ["b", "x"])).toEqual({ from: 1 });
    expect([ids(l), l.indexOf("c")]).toEqual([["a", "c"], 1]);
  });
});
