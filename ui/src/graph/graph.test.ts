import { describe, expect, it } from "vitest";
import { Entries } from "../timeline/entries";
import { call, event } from "../timeline/test_events";
import type { Event, Warning } from "../api/names";
import { layout } from "./layout";
import { graphOf, type Graph } from "./transitions";

function graph(events: Event[], warning: Warning | null = null): Graph {
  const entries = new Entries();
  events.forEach((e, i) => entries.add(e, i));
  return graphOf(entries.list, (id) => entries.entryOf(id), warning);
}

const round = (): Event[] => [...call("edit", 1, "ok"), ...call("test", 1, "FAIL")];

describe("a graph", () => {
  const rounds = [round(), round(), round()];
  const ids = rounds.flat().map((e) => ({ event_id: e.event_id, number: 0 }));
  const warning = { event_id: ids.at(-1)!.event_id, details: { first_event_id: ids[0]!.event_id, evidence: ids.slice(4) } } as unknown as Warning;
  const events = [...call("read", 1, 1), ...rounds.flat(), ...call("ask", 1, 1)];
  const g = graph(events, warning);

  it("counts tools and transitions, and marks what the warning names", () => {
    expect(g.nodes.map((n) => [n.name, n.count, n.looping])).toEqual([["read", 1, false], ["edit", 3, true], ["test", 3, true], ["ask", 1, false]]);
    expect(g.edges.map((e) => [e.from, e.to, e.count, e.looping])).toEqual([
      ["read", "edit", 1, false], ["edit", "test", 3, true], ["test", "edit", 2, true], ["test", "ask", 1, false],
    ]);
  });

  it("marks nothing without a warning, whatever repeats", () => {
    const plain = graph(events);
    expect([...plain.nodes, ...plain.edges].filter((x) => x.looping)).toEqual([]);
  });

  it("does not mix what two agents do", () => {
    const by = (agent: string, e: Event[]): Event[] => e.map((x) => ({ ...x, agent }));
    const two = graph([...by("a", call("x", 1, 1)), ...by("b", call("y", 1, 1)), ...by("a", call("z", 1, 1))]);
    expect(two.edges.map((e) => [e.from, e.to])).toEqual([["x", "z"]]);
  });

  it("has agents that hand over as nodes", () => {
    const handoffs = graph([event({ type: "handoff_started", agent: "writer" }), event({ type: "handoff_started", agent: "critic" })]);
    expect(handoffs.nodes.map((n) => [n.name, n.kind])).toEqual([["writer", "agent"], ["critic", "agent"]]);
  });

  it("is laid out in columns, each behind what leads to it, with nothing outside the picture", () => {
    const p = layout(g);
    const x = p.nodes.map((n) => n.x);
    expect(x).toEqual([...x].sort((a, b) => a - b));
    expect(new Set(x).size).toBe(4);
    expect(p.nodes.every((n) => n.x + 156 <= p.width && n.y + 44 <= p.height)).toBe(true);
    expect(layout({ nodes: [], edges: [], omitted: 0 }).nodes).toEqual([]);
  });

  it("has room for the names of tools where layers run to the right", () => {
    const named = (name: string): number => layout(graph(call(name, 1, 1))).wide;
    expect(named("read")).toBe(156);
    expect(named("update_reservation_flights")).toBeGreaterThan(220);
    expect(named("x".repeat(100))).toBe(232);
  });

  it.each([["to the right", false], ["downwards", true]])("has no edge across a node of a layer between its ends, %s", (_, down) => {
    // From start to end there are two tools side by side, and the way back is beside both.
    const side = [...call("start", 1, 1), ...call("left", 1, 1), ...call("end", 1, 1), ...call("start", 2, 1), ...call("right", 1, 1), ...call("end", 2, 1), ...call("start", 3, 1), ...call("end", 3, 1)];
    const p = layout(graph(side), down);
    const [long, broad] = down ? [44, 156] : [156, 44];
    for (const e of p.edges.filter((e) => [e.from, e.to].sort().join() === "end,start")) {
      const points = e.path.match(/-?[\d.]+,-?[\d.]+/g)!.map((pair) => pair.split(",").map(Number));
      for (const n of p.nodes.filter((n) => n.name === "left" || n.name === "right")) {
        const [along, across] = down ? [n.y, n.x] : [n.x, n.y];
        for (let t = 0; t <= 1; t += 0.02) {
          const at = (k: number): number => (1 - t) ** 3 * points[0]![k]! + 3 * t * (1 - t) ** 2 * points[1]![k]! + 3 * t * t * (1 - t) * points[2]![k]! + t ** 3 * points[3]![k]!;
          const [l, b] = down ? [at(1), at(0)] : [at(0), at(1)];
          expect(l > along && l < along + long && b > across && b < across + broad, `${e.from} to ${e.to} at ${t}`).toBe(false);
        }
      }
      expect(e.x >= 0 && e.x <= p.width && e.y >= 0 && e.y <= p.height).toBe(true);
    }
  });

  it("is laid out downwards where there is no room to the right, no wider than a phone for a chain of tools", () => {
    const p = layout(g, true);
    const y = p.nodes.map((n) => n.y);
    expect(new Set(y).size).toBe(4);
    expect(p.nodes.every((n) => n.x + 156 <= p.width && n.y + 44 <= p.height)).toBe(true);
    expect(p.width).toBeLessThan(300);
  });

  it("has room for the name of a looping tool and the word beside it", () => {
    const one = (looping: boolean): Graph => ({ nodes: [{ name: "search_customer_orders", kind: "tool", count: 3, failed: 0, looping }], edges: [], omitted: 0 });
    expect(layout(one(true)).wide).toBeGreaterThan(layout(one(false)).wide + 30);
  });

  it("has the count of an edge on the edge", () => {
    const back = layout(g).edges.find((e) => e.from === "test" && e.to === "edit")!;
    const [, y0, , y1] = /^M[\d.]+,([\d.]+) C([\d.]+),([\d.]+)/.exec(back.path)!.map(Number);
    expect(back.y).toBeGreaterThan(y0!);
    expect(back.y).toBeLessThan(y1!);
  });

  it.each([["right", false], ["down", true]])("to the %s has the count of a loop clear of the node before it", (_, down) => {
    const alone: Graph = graph(["a", "b"].flatMap((agent) => [...call(agent, 1, 1), ...call(agent, 2, 2)].map((e) => ({ ...e, agent }))));
    const p = layout(alone, down);
    const [, second] = p.nodes;
    const loop = p.edges.find((e) => e.from === second!.name && e.to === second!.name)!;
    const [from, to] = down ? [p.nodes[0]!.x + 156, second!.x] : [p.nodes[0]!.y + 44, second!.y];
    const [at, half] = down ? [loop.x, 4] : [loop.y, 7];
    expect(at - half).toBeGreaterThan(from);
    expect(at + half).toBeLessThan(to);
  });

  it("omits the least used of very many tools", () => {
    const many = graph(Array.from({ length: 60 }, (_, i) => call(`t${i}`, 1, 1)).flat());
    expect([many.nodes.length, many.omitted]).toEqual([40, 20]);
  });
});
