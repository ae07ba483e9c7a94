import { describe, expect, it } from "vitest";
import type { Event } from "../api/names";
import { Entries } from "../timeline/entries";
import { call, event } from "../timeline/test_events";
import { shownOf, ticksOf, treeOf, type Branch } from "./tree";

const at = (second: number): string => new Date(Date.UTC(2026, 2, 9, 14, 2, second)).toISOString();

function treeOfEvents(events: Event[], timed = true): Branch[] {
  const entries = new Entries();
  events.forEach((e, i) => entries.add(e, i));
  return treeOf(entries.list, (id) => entries.entryOf(id), timed);
}

/** A call of a tool by an agent from one second to another. */
function step(agent: string, tool: string, from: number, to: number, parent: string | null = null): Event[] {
  const [start, end] = call(tool, from, to) as [Event, Event];
  return [
    { ...start, agent, timestamp: at(from), parent_event_id: parent },
    { ...end, agent, timestamp: at(to), latency_ms: (to - from) * 1000, parent_event_id: start.event_id },
  ];
}

describe("the tree of a run", () => {
  const [ask, answer] = step("planner", "ask", 0, 20) as [Event, Event];
  const nested = [...step("researcher", "search", 1, 3, ask.event_id), ...step("researcher", "search", 4, 6, ask.event_id)];
  const tree = treeOfEvents([ask, ...nested, answer, ...step("writer", "write", 21, 25)]);

  it("has an agent below the call that started it, and its calls below the agent", () => {
    expect(shownOf(tree, new Set()).map((b) => [b.depth, b.name])).toEqual([
      [0, "planner"], [1, "ask"], [2, "researcher"], [3, "search"], [3, "search"], [0, "writer"], [1, "write"],
    ]);
  });

  it("has each agent last from the first of its entries to the last", () => {
    const seconds = (b: Branch): number[] => [b.from, b.to].map((t) => (t - Date.parse(at(0))) / 1000);
    expect(shownOf(tree, new Set()).filter((b) => b.entry === null).map(seconds)).toEqual([[0, 20], [1, 6], [21, 25]]);
  });

  it("hides what is below a closed branch", () => {
    const closed = new Set([shownOf(tree, new Set())[2]!.key]);
    expect(shownOf(tree, closed).map((b) => b.name)).toEqual(["planner", "ask", "researcher", "writer", "write"]);
  });

  it("draws a call whose start is not known before its end", () => {
    const [b] = treeOfEvents([event({ type: "tool_call_completed", tool: "t", timestamp: at(10), latency_ms: 4000 })]);
    expect([b!.to - b!.from, b!.to]).toEqual([4000, Date.parse(at(10))]);
  });

  it("has positions in place of times where events have none", () => {
    const tree = treeOfEvents([...step("", "a", 0, 0), ...step("", "b", 0, 0)], false);
    expect(tree.map((b) => [b.from, b.to])).toEqual([[0, 1], [1, 2]]);
  });

  it("ends where events are parents of each other, and keeps a chain of any length", () => {
    const circle = treeOfEvents([event({ event_id: "x", parent_event_id: "y" }), event({ event_id: "y", parent_event_id: "x" })]);
    expect(shownOf(circle, new Set()).map((b) => b.depth)).toEqual([0, 1]);
    const chain = Array.from({ length: 20_000 }, (_, i) => event({ event_id: `n${i}`, parent_event_id: i ? `n${i - 1}` : null, agent: "a" }));
    const shown = shownOf(treeOfEvents(chain), new Set());
    expect([shown.length, Math.max(...shown.map((b) => b.depth))]).toEqual([20_001, 32]);
  });
});

describe("the ticks of the axis", () => {
  it.each([[0.5, [0]], [9000, [0, 2000, 4000, 6000, 8000]], [60_000, [0, 15_000, 30_000, 45_000]], [864e5 * 30, [0, 648e6, 1296e6, 1944e6]]])("of %s ms are round", (length, ticks) => {
    expect(ticksOf(length)).toEqual(ticks);
  });
});
