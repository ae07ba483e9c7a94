import { describe, expect, it } from "vitest";
import { instant, Ledger } from "./ledger";
import { event } from "./make";

const ids = (l: Ledger): string[] => l.events.map((e) => e.event_id);

describe("a ledger", () => {
  it("keeps events that come in order as they come, and says that nothing before them changed", () => {
    const l = new Ledger();
    expect(l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "b", sequence: 2 })])).toEqual({ from: 0 });
    expect(l.add([event({ event_id: "c", sequence: 3 })])).toEqual({ from: 2 });
    expect(ids(l)).toEqual(["a", "b", "c"]);
  });

  it("puts a late event into its place and says from where on the order is another", () => {
    const l = new Ledger();
    l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "c", sequence: 3 })]);
    expect(l.add([event({ event_id: "b", sequence: 2 })])).toEqual({ from: 1 });
    expect(ids(l)).toEqual(["a", "b", "c"]);
    expect([l.indexOf("a"), l.indexOf("b"), l.indexOf("c"), l.indexOf("d")]).toEqual([0, 1, 2, -1]);
  });

  it("takes an event that comes again in the place of what it was", () => {
    const l = new Ledger();
    l.add([event({ event_id: "a", sequence: 1, text: "old" }), event({ event_id: "b", sequence: 2 })]);
    expect(l.add([event({ event_id: "a", sequence: 1, text: "new" })])).toEqual({ from: 0 });
    expect(l.events.map((e) => e.text)).toEqual(["new", null]);
  });

  it("places an event without a sequence behind the furthest before it, and sorts by time below milliseconds", () => {
    const l = new Ledger();
    l.add([
      event({ event_id: "a", timestamp: "2026-03-09T14:02:00.000200Z" }),
      event({ event_id: "b", timestamp: "2026-03-09T14:02:00.000100Z" }),
      event({ event_id: "c", timestamp: "2026-03-09T14:02:00.000200Z" }),
    ]);
    expect(ids(l)).toEqual(["b", "a", "c"]);
    expect(instant("2026-03-09T14:02:00.123456Z") - instant("2026-03-09T14:02:00.123Z")).toBeCloseTo(0.456, 3);
  });

  it("forgets events that are no more", () => {
    const l = new Ledger();
    l.add([event({ event_id: "a", sequence: 1 }), event({ event_id: "b", sequence: 2 }), event({ event_id: "c", sequence: 3 })]);
    expect(l.add([], ["b", "x"])).toEqual({ from: 1 });
    expect([ids(l), l.indexOf("c")]).toEqual([["a", "c"], 1]);
  });
});
