// From entries to a graph: tools (and agents that hand over) are nodes, what came after what are edges.
import type { Entry } from "../timeline/entries";
import type { Fold } from "../timeline/folds";

export interface Node {
  name: string;
  kind: "tool" | "agent";
  count: number;
  failed: number;
  /** Stands in the stretch that repeats. */
  looping: boolean;
}

export interface Edge {
  from: string;
  to: string;
  count: number;
  looping: boolean;
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  /** How many nodes were left out since there are too many to read. */
  left: number;
}

const mostNodes = 40;

/** loopOf returns the longest repeated stretch. */
export function loopOf(folds: readonly Fold[]): Fold | null {
  let best: Fold | null = null;
  for (const f of folds) if (best === null || f.to - f.from > best.to - best.from) best = f;
  return best;
}

function nameOf(e: Entry): string {
  if (e.kind === "tool") return e.tool;
  return e.kind === "handoff" ? e.agent : "";
}

/** graphOf counts who follows whom. Cost: O(entries). */
export function graphOf(entries: readonly Entry[], folds: readonly Fold[]): Graph {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const previous = new Map<string, string>(); // by agent: what it did before
  const loop = loopOf(folds);
  for (const e of entries) {
    const name = nameOf(e);
    if (!name) continue;
    const inLoop = loop !== null && e.index >= loop.from && e.index < loop.to;
    const node = nodes.get(name) ?? { name, kind: e.kind === "tool" ? "tool" : "agent", count: 0, failed: 0, looping: false };
    node.count++;
    if (e.outcome === "failed") node.failed++;
    node.looping ||= inLoop;
    nodes.set(name, node);
    const lane = e.kind === "tool" ? e.agent : "";
    const before = previous.get(lane);
    if (before !== undefined) {
      const key = JSON.stringify([before, name]);
      const edge = edges.get(key) ?? { from: before, to: name, count: 0, looping: false };
      edge.count++;
      edge.looping ||= inLoop;
      edges.set(key, edge);
    }
    previous.set(lane, name);
  }
  return bounded(nodes, edges);
}

function bounded(nodes: Map<string, Node>, edges: Map<string, Edge>): Graph {
  const kept = [...nodes.values()];
  if (kept.length > mostNodes) kept.sort((a, b) => b.count - a.count).length = mostNodes;
  const names = new Set(kept.map((n) => n.name));
  return { nodes: kept, edges: [...edges.values()].filter((e) => names.has(e.from) && names.has(e.to)), left: nodes.size - kept.length };
}
