// Converts entries to a graph. Tools, and agents that hand over, are nodes; transitions between them are edges.
import type { Entry } from "../timeline/entries";
import type { RepeatedRange } from "../timeline/repeats";

export interface Node {
  name: string;
  kind: "tool" | "agent";
  count: number;
  failed: number;
  /** Part of the repeated range. */
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
  /** The number of nodes that were omitted for readability. */
  omitted: number;
}

const mostNodes = 40;

/** loopOf returns the longest repeated range. */
export function loopOf(repeats: readonly RepeatedRange[]): RepeatedRange | null {
  let best: RepeatedRange | null = null;
  for (const f of repeats) if (best === null || f.to - f.from > best.to - best.from) best = f;
  return best;
}

function nameOf(e: Entry): string {
  if (e.kind === "tool") return e.tool;
  return e.kind === "handoff" ? e.agent : "";
}

/** graphOf counts nodes and transitions. Cost: O(entries). */
export function graphOf(entries: readonly Entry[], repeats: readonly RepeatedRange[]): Graph {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const previous = new Map<string, string>(); // by agent: its previous node
  const loop = loopOf(repeats);
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
  return { nodes: kept, edges: [...edges.values()].filter((e) => names.has(e.from) && names.has(e.to)), omitted: nodes.size - kept.length };
}
