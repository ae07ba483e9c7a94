import { describe, expect, it } from "vitest";
import type { Event } from "../api/names";
import { Entries } from "./entries";
import { foldsOf } from "./folds";
import { call, event } from "./make";
import { newsOf } from "./news";
import { everything, foldAround, rowsOf, type Timeline } from "./rows";

function timelineOf(events: Event[]): Timeline {
  const entries = new Entries();
  events.forEach((e, i) => entries.add(e, i));
  return { entries: entries.list, slowest: entries.slowest, folds: foldsOf(entries.list), decisions: [], entryOf: (id) => entries.entryOf(id) };
}

const model = (): Event[] => [event({ type: "llm_call_started", model: "m" }), event({ type: "llm_call_completed", model: "m" })];
const times = (n: number, make: () => Event[]): Event[] => Array.from({ length: n }, make).flat();

describe("folds", () => {
  it("leave the first round and fold the others", () => {
    const t = timelineOf([...call("start", 1, 1), ...times(7, () => call("test", "x", "FAIL")), ...call("end", 1, 1)]);
    expect(t.folds).toEqual([{ from: 2, to: 8, period: 1, rounds: 7 }]);
  });

  it("find a cycle with calls of the model in between", () => {
    const t = timelineOf(times(3, () => [...model(), ...call("edit", 1, "ok"), ...model(), ...call("test", 1, "FAIL")]));
    expect(t.folds).toEqual([{ from: 4, to: 12, period: 4, rounds: 3 }]);
  });

  it("do not fold what is called again with another result, nor what stands only twice", () => {
    let percent = 0;
    expect(timelineOf(times(5, () => call("status", 1, `${(percent += 10)}%`))).folds).toEqual([]);
    expect(timelineOf(times(2, () => call("test", 1, "FAIL"))).folds).toEqual([]);
  });

  it("do not fold calls of the model alone", () => {
    expect(timelineOf(times(5, model)).folds).toEqual([]);
  });

  it("take little time for a long run", () => {
    let n = 0;
    const { entries } = timelineOf(times(20_000, () => call("t", n++ % 7, n % 3)));
    const began = performance.now();
    foldsOf(entries);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});

describe("rows", () => {
  const t = timelineOf([...call("start", 1, 1), ...times(4, () => call("test", "x", "FAIL")), ...call("end", 1, 1)]);
  const fold = t.folds[0]!;

  it("show a fold in the place of what it hides, and both once it is open", () => {
    const closed = rowsOf(t, new Set(), everything);
    expect(closed.map((r) => r.type)).toEqual(["entry", "entry", "fold", "entry"]);
    const open = rowsOf(t, new Set([closed[2]!.key]), everything);
    expect(open.map((r) => r.type)).toEqual(["entry", "entry", "fold", "entry", "entry", "entry", "entry"]);
    expect(open.map((r) => r.type === "entry" && r.inFold)).toEqual([false, false, false, true, true, true, false]);
  });

  it("put a decision behind its entry, and say it again only when it is another", () => {
    const at = (entry: number, action: "warn" | "halt") => ({ run_id: "r", event_id: t.entries[entry]!.last!.event_id, event_number: entry, action, code: action, message: "" });
    const rows = rowsOf({ ...t, decisions: [at(1, "warn"), at(2, "warn"), at(4, "halt")] }, new Set(), everything);
    expect(rows.map((r) => (r.type === "decision" ? r.decision.action : r.type))).toEqual(["entry", "entry", "warn", "fold", "halt", "entry"]);
  });

  it("show only what is asked for, without folds", () => {
    expect(rowsOf(t, new Set(), { ...everything, tool: "test" }).length).toBe(4);
    expect(rowsOf(t, new Set(), { ...everything, text: "fail" }).length).toBe(4);
    expect(rowsOf(t, new Set(), { ...everything, agent: "nobody" }).length).toBe(0);
  });

  it("have keys that differ, whatever ids senders choose", () => {
    const first = t.entries[2]!.first.event_id;
    const posing = timelineOf([event({ event_id: `fold ${first}` }), ...call("start", 1, 1), ...times(4, () => call("test", "x", "FAIL"))]);
    posing.entries[posing.folds[0]!.from]!.first.event_id = first;
    const keys = rowsOf(posing, new Set(), everything).map((r) => r.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("know in which fold an entry is", () => {
    expect([0, 1, 2, 4, 5].map((i) => foldAround(t.folds, i))).toEqual([null, null, fold, fold, null]);
  });
});

describe("news", () => {
  it("stops rising where the agent goes round", () => {
    const { steps, fresh } = newsOf(timelineOf([...call("a", 1, 1), ...call("b", 1, 1), ...times(3, () => call("b", 1, 1))]).entries);
    expect([steps, fresh]).toEqual([[0, 1, 2, 3, 4, 5], [0, 1, 2, 2, 2, 2]]);
  });

  it("tells a long run in few points, the last one among them", () => {
    let n = 0;
    const { steps, fresh } = newsOf(timelineOf(times(1001, () => call("t", 1, `item ${n++}`))).entries, 100);
    expect([steps.length <= 102, steps.at(-1), fresh.at(-1)]).toEqual([true, 1001, 1001]);
  });
});
