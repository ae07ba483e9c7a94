import { describe, expect, it } from "vitest";
import type { Event } from "../api/names";
import { Entries } from "./entries";
import { call, event } from "./test_events";

function entriesOf(events: Event[]): Entries {
  const entries = new Entries();
  events.forEach((e, i) => entries.add(e, i));
  return entries;
}

describe("entries", () => {
  it("join a call and its outcome where calls overlap", () => {
    const [startA, endA] = call("read", { path: "a" }, "A") as [Event, Event];
    const [startB, endB] = call("read", { path: "b" }, "B") as [Event, Event];
    const { list } = entriesOf([startA, startB, endB, endA]);
    expect(list.map((e) => [e.first.input, e.last?.output, e.outcome])).toEqual([[{ path: "a" }, "A", "done"], [{ path: "b" }, "B", "done"]]);
  });

  it("join the call that the server names, whatever the ids, tools and agents of the events are", () => {
    const list = entriesOf([
      event({ event_id: "first", type: "tool_call_started", tool: "t", call_id: "1" }), event({ event_id: "second", type: "tool_call_started", tool: "t", call_id: "1" }),
      event({ type: "tool_call_failed", tool: "t", call_id: "1", analysis: { call_event_id: "second" } }),
      event({ event_id: "model", type: "llm_call_started", agent: "a" }), event({ type: "llm_call_completed", agent: "b", analysis: { call_event_id: "model" } }),
      event({ type: "tool_call_completed", tool: "t", call_id: "1" }),
    ]).list;
    expect(list.map((e) => [e.first.event_id.replace(/^e\d+$/, "outcome"), e.outcome])).toEqual([["first", "open"], ["second", "failed"], ["model", "done"], ["outcome", "done"]]);
  });

  it("are replaced when the outcome comes, so that a page sees the change", () => {
    const [start, end] = call("read", 1, 2) as [Event, Event];
    const entries = entriesOf([start]);
    const before = entries.list[0]!;
    entries.add(end, 1);
    expect([before.outcome, entries.list[0]!.outcome, entries.entryOf(end.event_id)]).toEqual(["open", "done", 0]);
  });

  it("say what the server says of sameness and novelty, and nothing else", () => {
    const list = entriesOf([
      ...call("poll", 1, "a", { novel: true }), ...call("poll", 1, "b", { novel: false, repeats: 7 }), ...call("poll", 1, "b"),
      event({ type: "tool_call_completed", tool: "poll", input: 1, output: "b" }),
    ]).list;
    expect(list.map((e) => [e.call, e.result, e.times, e.novel])).toEqual([
      ["poll 1", '"a"', 0, true], ["poll 1", '"b"', 7, false], ["poll 1", '"b"', 0, null], ["", "", 0, null],
    ]);
    expect(list.map((e) => e.signature !== 0)).toEqual([true, true, true, false]);
  });

  it("failed if the server says that the result describes a failure", () => {
    const list = entriesOf([...call("bash", 1, "Exit code: 2", { failing: true }), ...call("bash", 2, "Exit code: 0")]).list;
    expect(list.map((e) => e.outcome)).toEqual(["failed", "done"]);
  });

  it("know the entry that they repeat, else the previous one with the same call, else the previous one of the same tool", () => {
    const first = call("read", "a", 1);
    const list = entriesOf([...first, ...call("read", "b", 2), ...call("read", "a", 3), ...call("write", "a", 4), ...call("read", "a", 1, { repeats_event_id: first[1]!.event_id })]).list;
    expect(list.map((e) => e.previous)).toEqual([-1, 0, 0, -1, 0]);
  });

  it("stand below the call of the model that led to them, and below their parent", () => {
    const list = entriesOf([
      ...call("early", 1, 1), event({ event_id: "m", type: "llm_call_started" }), event({ type: "llm_call_completed", analysis: { call_event_id: "m" } }),
      ...call("t", 1, 1), event({ event_id: "p", type: "state_updated" }), event({ type: "message", parent_event_id: "p" }),
    ]).list;
    expect(list.map((e) => e.depth)).toEqual([0, 0, 1, 0, 1]);
  });

  it("make an entry of an outcome whose start is not known, and do not call a blocked call novel", () => {
    const list = entriesOf([event({ type: "tool_call_blocked", tool: "t", output: "no" })]).list;
    expect(list.map((e) => [e.tool, e.outcome, e.novel])).toEqual([["t", "blocked", null]]);
  });

  it("keep an unknown type as other, whatever its name is", () => {
    expect(entriesOf([event({ type: "constructor" }), event({ type: "my_own" })]).list.map((e) => e.kind)).toEqual(["other", "other"]);
  });
});
