// The tree of a run: agents with their calls, and calls with what they caused. Parents come from the events.
import type { Entry } from "../timeline/entries";

export interface Branch {
  key: string;
  name: string;
  /** The entry that it is; null for an agent. */
  entry: Entry | null;
  depth: number;
  /** Milliseconds since the epoch, or positions in the run if its events have no times. For an agent, of all below it. */
  from: number;
  to: number;
  children: Branch[];
}

/** The deepest level that is drawn. Deeper branches are drawn at it. */
const deepest = 32;

/** treeOf returns the roots. Entries of another agent than their parent's are below a branch for that agent. Cost: O(entries). */
export function treeOf(entries: readonly Entry[], entryOf: (event: string) => number, timed: boolean): Branch[] {
  const roots: Branch[] = [];
  const branches: Branch[] = [];
  const groups: Branch[] = []; // the agents, those that contain others first
  const agents = new Map<string, Branch>(); // by the parent's index and the agent
  for (const entry of entries) {
    const parent = branches[parentOf(entry, entryOf)];
    const list = parent?.children ?? roots;
    let depth = parent ? Math.min(parent.depth + 1, deepest) : 0;
    let below = list;
    if (entry.agent && entry.agent !== parent?.entry?.agent) {
      const key = `agent ${parent?.entry?.index ?? ""} ${entry.agent}`;
      let agent = agents.get(key);
      if (!agent) {
        agent = { key, name: entry.agent, entry: null, depth, from: Infinity, to: -Infinity, children: [] };
        agents.set(key, agent);
        groups.push(agent);
        list.push(agent);
      }
      below = agent.children;
      depth = Math.min(depth + 1, deepest);
    }
    const branch = { key: `entry ${entry.first.event_id}`, name: nameOf(entry), entry, depth, ...spanOf(entry, timed), children: [] };
    below.push(branch);
    branches[entry.index] = branch;
  }
  for (const group of groups.reverse()) measure(group);
  return roots;
}

/** parentOf returns the index of an earlier entry, or -1. A parent behind its child would close a circle. */
function parentOf(entry: Entry, entryOf: (event: string) => number): number {
  const parent = entry.first.parent_event_id ? entryOf(entry.first.parent_event_id) : -1;
  return parent < entry.index ? parent : -1;
}

function nameOf(e: Entry): string {
  if (e.kind === "tool") return e.tool || "tool";
  if (e.kind === "llm") return e.first.model ?? "Model";
  if (e.kind === "handoff") return `Handoff to ${e.agent}`;
  return e.first.role ?? e.first.type.replaceAll("_", " ");
}

function spanOf(e: Entry, timed: boolean): { from: number; to: number } {
  if (!timed) return { from: e.index, to: e.index + 1 };
  const took = e.duration ?? 0;
  const ended = e.last === e.first || (e.last === null && took > 0); // only the end is known
  return ended ? { from: e.time - took, to: e.time } : { from: e.time, to: e.time + took };
}

/** measure has an agent last from the first of its entries to the last. */
function measure(agent: Branch): void {
  for (const c of agent.children) {
    agent.from = Math.min(agent.from, c.from);
    agent.to = Math.max(agent.to, c.to);
  }
}

/** shownOf returns the branches that are visible, in the order of the page. Closed holds the keys of the closed ones. */
export function shownOf(roots: readonly Branch[], closed: ReadonlySet<string>): Branch[] {
  const shown: Branch[] = [];
  const stack = [...roots].reverse();
  for (let b = stack.pop(); b !== undefined; b = stack.pop()) {
    shown.push(b);
    if (!closed.has(b.key)) for (let i = b.children.length - 1; i >= 0; i--) stack.push(b.children[i]!);
  }
  return shown;
}

/** ticksOf returns at most about five round distances from the start, in milliseconds. */
export function ticksOf(length: number): number[] {
  const round = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5, 864e5];
  const step = round.find((r) => length / r <= 5) ?? length / 4;
  const ticks: number[] = [];
  for (let at = 0; at < length && ticks.length < 8; at += step) ticks.push(at);
  return ticks;
}
