// A layered layout (after Sugiyama, Tagawa and Toda, 1981): nodes stand in columns by how far they are from the start, and each
// column is sorted by the middle of its neighbours. Edges that go back bend below.
import type { Edge, Graph, Node } from "./transitions";

export const wide = 156;
export const tall = 44;
const gapX = 64;
const gapY = 28;
const below = 72; // room for the edges that go back

export interface Placed extends Node {
  x: number;
  y: number;
}

export interface Drawn extends Edge {
  path: string;
  /** Where its count stands. */
  x: number;
  y: number;
}

export interface Picture {
  nodes: Placed[];
  edges: Drawn[];
  width: number;
  height: number;
}

export function layout(g: Graph): Picture {
  const columns = sorted(layers(g), g.edges);
  const most = Math.max(...columns.map((c) => c.length), 1);
  const height = most * (tall + gapY) - gapY;
  const placed = new Map<string, Placed>();
  columns.forEach((column, i) => {
    const top = (height - column.length * (tall + gapY) + gapY) / 2;
    column.forEach((n, k) => placed.set(n.name, { ...n, x: i * (wide + gapX), y: 32 + top + k * (tall + gapY) }));
  });
  const edges = g.edges.map((e) => drawn(e, placed.get(e.from)!, placed.get(e.to)!, height + 32));
  return { nodes: [...placed.values()], edges, width: columns.length * (wide + gapX) - gapX + 56, height: height + 32 + below };
}

/**
 * layers puts each node into a column: behind all that lead to it, along the longest way. Edges that would close a circle do not
 * count; which those are, a walk along the heaviest edges first decides.
 */
function layers(g: Graph): Node[][] {
  const out = new Map<string, Edge[]>();
  for (const e of [...g.edges].sort((a, b) => b.count - a.count)) if (e.from !== e.to) out.set(e.from, [...(out.get(e.from) ?? []), e]);
  const state = new Map<string, "open" | "done">();
  const order: string[] = [];
  const forward: Edge[] = [];
  const visit = (name: string): void => {
    state.set(name, "open");
    for (const e of out.get(name) ?? []) {
      if (state.get(e.to) === "open") continue;
      forward.push(e);
      if (!state.has(e.to)) visit(e.to);
    }
    state.set(name, "done");
    order.unshift(name);
  };
  for (const n of g.nodes) if (!state.has(n.name)) visit(n.name);
  const level = new Map(order.map((name) => [name, 0]));
  for (const name of order) {
    for (const e of forward) if (e.from === name) level.set(e.to, Math.max(level.get(e.to)!, level.get(name)! + 1));
  }
  const columns: Node[][] = [];
  for (const n of g.nodes) (columns[level.get(n.name)!] ??= []).push(n);
  return columns.filter((c) => c !== undefined);
}

function sorted(columns: Node[][], edges: readonly Edge[]): Node[][] {
  for (let round = 0; round < 4; round++) {
    for (let i = 1; i < columns.length; i++) {
      const place = new Map(columns[i - 1]!.map((n, k) => [n.name, k]));
      const middle = new Map(columns[i]!.map((n) => [n.name, middleOf(n, edges, place)]));
      columns[i]!.sort((a, b) => middle.get(a.name)! - middle.get(b.name)!);
    }
  }
  return columns;
}

function middleOf(n: Node, edges: readonly Edge[], place: Map<string, number>): number {
  const at = edges.filter((e) => e.to === n.name && place.has(e.from)).map((e) => place.get(e.from)!);
  return at.length === 0 ? Infinity : at.reduce((a, b) => a + b, 0) / at.length;
}

function drawn(e: Edge, a: Placed, b: Placed, bottom: number): Drawn {
  const ay = a.y + tall / 2;
  const by = b.y + tall / 2;
  if (e.from === e.to) {
    const x = a.x + wide / 2;
    return { ...e, path: `M${x - 20},${a.y} C${x - 32},${a.y - 32} ${x + 32},${a.y - 32} ${x + 20},${a.y}`, x, y: a.y - 22 };
  }
  if (b.x > a.x) {
    const from = a.x + wide;
    const bend = Math.max((b.x - from) / 2, 32);
    if (b.x - from > gapX) {
      const high = Math.min(a.y, b.y) - 40; // over the columns in between
      const [ax, bx] = [a.x + wide - 24, b.x + 24];
      return { ...e, path: `M${ax},${a.y} C${ax + 40},${high} ${bx - 40},${high} ${bx},${b.y}`, x: (ax + bx) / 2, y: high + 10 };
    }
    return { ...e, path: `M${from},${ay} C${from + bend},${ay} ${b.x - bend},${by} ${b.x},${by}`, x: (from + b.x) / 2, y: (ay + by) / 2 };
  }
  if (b.x === a.x) {
    const right = a.x + wide;
    const out = right + 36 + (e.from < e.to ? 0 : 16);
    return { ...e, path: `M${right},${ay + 6} C${out},${ay} ${out},${by} ${right},${by + 6}`, x: out - 10, y: (ay + by) / 2 };
  }
  const low = Math.min(bottom + 44, Math.max(a.y, b.y) + tall + 12 + (a.x - b.x) / 10);
  const ax = a.x + wide / 2;
  const bx = b.x + wide / 2;
  return { ...e, path: `M${ax},${a.y + tall} C${ax},${low + 12} ${bx},${low + 12} ${bx},${b.y + tall}`, x: (ax + bx) / 2, y: low + 2 };
}
