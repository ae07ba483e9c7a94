// A layered layout (after Sugiyama, Tagawa and Toda, 1981). Nodes are in layers by their distance from the start. Each layer is
// sorted by the median of its neighbors. Layers run to the right, or downwards on a narrow screen. Backward edges bend around the
// far side.
import type { Edge, Graph, Node } from "./transitions";

export const tall = 44;
const narrowest = 156; // of a node
const widest = 232;
const letter = 7.8; // the mean width of one in a name
const near = 40; // space for edges that pass over a layer
const far = 80; // space for backward edges
const clear = 10; // between an edge and the nodes that it passes

/** The size of a node and the gap to the next one, along the layers and across them. */
interface Shape {
  long: number;
  broad: number;
  gapAlong: number;
  gapAcross: number;
}

/** shapeOf returns the size of the nodes. Layers to the right have room for long names, and for the word beside the name of a looping one. */
function shapeOf(g: Graph, down: boolean): Shape {
  if (down) return { long: tall, broad: narrowest, gapAlong: 56, gapAcross: 20 };
  const longest = Math.max(...g.nodes.map((n) => n.name.length + (n.looping ? 5 : 0)), 0);
  return { long: Math.min(Math.max(longest * letter + 24, narrowest), widest), broad: tall, gapAlong: 64, gapAcross: 28 };
}

export interface Placed extends Node {
  x: number;
  y: number;
}

export interface Drawn extends Edge {
  path: string;
  /** The position of its count. */
  x: number;
  y: number;
}

export interface Picture {
  nodes: Placed[];
  edges: Drawn[];
  /** The width of each node. */
  wide: number;
  width: number;
  height: number;
}

/** A position along the layers and across them. */
type Point = [along: number, across: number];

interface Spot {
  node: Node;
  layer: number;
  along: number;
  across: number;
}

export function layout(g: Graph, down = false): Picture {
  const shape = shapeOf(g, down);
  const layered = sorted(layers(g), g.edges);
  const most = Math.max(...layered.map((c) => c.length), 1);
  const breadth = most * (shape.broad + shape.gapAcross) - shape.gapAcross;
  const spots = new Map<string, Spot>();
  const extents: Point[] = []; // of each layer, across
  layered.forEach((column, layer) => {
    const begin = near + (breadth - column.length * (shape.broad + shape.gapAcross) + shape.gapAcross) / 2;
    column.forEach((node, k) => spots.set(node.name, { node, layer, along: layer * (shape.long + shape.gapAlong), across: begin + k * (shape.broad + shape.gapAcross) }));
    extents.push([begin, begin + column.length * (shape.broad + shape.gapAcross) - shape.gapAcross]);
  });
  const at = ([along, across]: Point): { x: number; y: number } => (down ? { x: across, y: along } : { x: along, y: across });
  const edges = g.edges.map((e): Drawn => {
    const [a, b] = [spots.get(e.from)!, spots.get(e.to)!];
    const between = extents.slice(Math.min(a.layer, b.layer) + 1, Math.max(a.layer, b.layer));
    const points = bent(a, b, shape, near + breadth, between);
    const [from, first, second, to] = points.map((p) => Object.values(at(p)).map((n) => n.toFixed(1)).join(","));
    return { ...e, path: `M${from} C${first} ${second} ${to}`, ...at(middle(points)) };
  });
  const length = Math.max(layered.length * (shape.long + shape.gapAlong) - shape.gapAlong, 0);
  const { x: width, y: height } = at([length, near + breadth + far]);
  return { nodes: [...spots.values()].map((s) => ({ ...s.node, ...at([s.along, s.across]) })), edges, wide: down ? shape.broad : shape.long, width, height };
}

/**
 * layers places each node behind its predecessors, by the longest path. Edges that close a cycle are ignored. A depth-first search
 * that prefers the heaviest edges finds them.
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
  const all: Node[][] = [];
  for (const n of g.nodes) (all[level.get(n.name)!] ??= []).push(n);
  return all.filter((c) => c !== undefined);
}

function sorted(all: Node[][], edges: readonly Edge[]): Node[][] {
  for (let round = 0; round < 4; round++) {
    for (let i = 1; i < all.length; i++) {
      const place = new Map(all[i - 1]!.map((n, k) => [n.name, k]));
      const middles = new Map(all[i]!.map((n) => [n.name, middleOf(n, edges, place)]));
      all[i]!.sort((a, b) => middles.get(a.name)! - middles.get(b.name)!);
    }
  }
  return all;
}

function middleOf(n: Node, edges: readonly Edge[], place: Map<string, number>): number {
  const at = edges.filter((e) => e.to === n.name && place.has(e.from)).map((e) => place.get(e.from)!);
  return at.length === 0 ? Infinity : at.reduce((a, b) => a + b, 0) / at.length;
}

/** bent returns the points of an edge: its start, two control points and its end. It is clear of the layers between the two nodes. */
function bent(a: Spot, b: Spot, s: Shape, end: number, between: readonly Point[]): Point[] {
  const [am, bm] = [a.across + s.broad / 2, b.across + s.broad / 2];
  const middleAlong = a.along + s.long / 2;
  if (a === b) { // a self loop at the near side
    const high = a.across - s.gapAcross + 4; // clear of the node before it
    return [[middleAlong - 14, a.across], [middleAlong - 26, high], [middleAlong + 26, high], [middleAlong + 14, a.across]];
  }
  if (b.layer === a.layer + 1) {
    const bend = s.gapAlong / 2;
    return [[a.along + s.long, am], [a.along + s.long + bend, am], [b.along - bend, bm], [b.along, bm]];
  }
  if (b.layer > a.layer) { // over the layers in between
    const top = Math.min(a.across, b.across);
    const high = Math.min(top - near, beyond(top, Math.min(...between.map(([begin]) => begin)) - clear));
    const [from, to] = [a.along + s.long - 16, b.along + 16];
    return [[from, a.across], [from + 24, high], [to - 24, high], [to, b.across]];
  }
  if (b.layer === a.layer) {
    const out = a.along + s.long + (a.across < b.across ? 28 : 44);
    return [[a.along + s.long, am + 6], [out, am], [out, bm], [b.along + s.long, bm + 6]];
  }
  const span = a.layer - b.layer;
  const bottom = Math.max(a.across, b.across) + s.broad;
  const low = Math.min(Math.max(bottom + 12 + 28 * span, beyond(bottom, Math.max(...between.map(([, last]) => last)) + clear)), (end + far - bottom / 4) / 0.75);
  const apart = Math.min(14 * (span - 1), s.long / 2 - 8); // longer edges go outside
  const [from, to] = [middleAlong + apart, b.along + s.long / 2 - apart];
  return [[from, a.across + s.broad], [from, low], [to, low], [to, b.across + s.broad]];
}

/** beyond returns the control points with which a curve that begins and ends at one height passes another one, beside its middle, too. */
function beyond(ends: number, passed: number): number {
  return Number.isFinite(passed) ? (passed - 0.3 * ends) / 0.7 : ends;
}

/** middle returns the middle of a curve. */
function middle([a, b, c, d]: Point[]): Point {
  const of = (k: 0 | 1): number => (a![k] + 3 * b![k] + 3 * c![k] + d![k]) / 8;
  return [of(0), of(1)];
}
