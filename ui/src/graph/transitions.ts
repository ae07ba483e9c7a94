// Converts entries to a graph. Tools, and agents that hand over, are nodes; transitions between them are edges.
import type { Entry } from "../timeline/entries";
import { detailsOf, type Warning } from "../api/names";

export interface Node {
  name: string;
  kind: "tool" | "agent";
  count: number;
  failed: number;
  /** Named by the warning. */
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

/** Mark is what a warning names: the nodes of its evidence, and the part of the run from its beginning to its last repeat. */
interface Mark {
  names: Set<string>;
  from: number;
  to: number;
}

function markOf(warning: Warning | null, entries: readonly Entry[], entryOf: (event: string) => number): Mark {
  const mark: Mark = { names: new Set(), from: Infinity, to: -1 };
  if (warning === null) return mark;
  const details = detailsOf(warning);
  for (const event of [details.first_event_id, ...(details.evidence ?? []).map((e) => e.event_id), warning.event_id]) {
    const entry = entries[entryOf(event ?? "")];
    if (!entry) continue;
    mark.from = Math.min(mark.from, entry.index);
    mark.to = Math.max(mark.to, entry.index);
    if (nameOf(entry)) mark.names.add(nameOf(entry));
  }
  return mark;
}

function nameOf(e: Entry): string {
  if (e.kind === "tool") return e.tool;
  return e.kind === "handoff" ? e.agent : "";
}

/** graphOf counts nodes and transitions, and marks those that the warning names. Cost: O(entries). */
export function graphOf(entries: readonly Entry[], entryOf: (event: string) => number, warning: Warning | null): Graph {
  const nodes = new Map<string, Node>();
  const edges = new Map<string, Edge>();
  const previous = new Map<string, string>(); // by agent: its previous node
  const mark = markOf(warning, entries, entryOf);
  for (const e of entries) {
    const name = nameOf(e);
    if (!name) continue;
    const node = nodes.get(name) ?? { name, kind: e.kind === "tool" ? "tool" : "agent", count: 0, failed: 0, looping: mark.names.has(name) };
    node.count++;
    if (e.outcome === "failed") node.failed++;
    nodes.set(name, node);
    const lane = e.kind === "tool" ? e.agent : "";
    const before = previous.get(lane);
    if (before !== undefined) {
      const key = JSON.stringify([before, name]);
      const edge = edges.get(key) ?? { from: before, to: name, count: 0, looping: false };
      edge.count++;
      edge.looping ||= mark.names.has(before) && mark.names.has(name) && e.index > mark.from && e.index <= mark.to;
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
