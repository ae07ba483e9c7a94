// What a list of runs can be filtered and sorted by. The URL holds it, under the names of the API.
import type { RunSummary } from "../api/names";

export const filters = [
  "status", "health", "decision", "guard", "project", "warning", "tool", "agent", "model", "metadata", "text", "since", "until",
] as const;
export type Filter = Record<(typeof filters)[number], string>;

/** filterOf reads the filters of a URL. */
export function filterOf(query: URLSearchParams): Filter {
  return Object.fromEntries(filters.map((name) => [name, query.get(name) ?? ""])) as Filter;
}

/** kept returns the query with the filters of a URL only, as a link to another page keeps them. */
export function kept(filter: Filter, more: Record<string, string> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, ...more })) if (value) query.set(name, value);
  const text = query.toString();
  return text ? `?${text}` : "";
}

export const healths = ["healthy", "repeated", "looping", "stuck"];

/** A decision to warn, block or halt: the profile found a loop. */
export const looping = "warn,block,halt";

export const views: { name: string; query: Partial<Filter> }[] = [
  { name: "Looping", query: { decision: looping } },
  { name: "All", query: {} },
  { name: "Running", query: { status: "running" } },
  { name: "Failed", query: { status: "failed" } },
  { name: "Guarded", query: { guard: "guarded" } },
];

/** matches reports whether a run matches a filter; null if only the server can decide. */
export function matches(run: RunSummary, f: Filter): boolean | null {
  const oneOf = (value: string, list: string) => !list || list.split(",").includes(value);
  if (!oneOf(run.status, f.status) || !oneOf(run.project, f.project) || !oneOf(run.loop_health_status, f.health)) return false;
  if (!oneOf(run.worst_decision, f.decision)) return false;
  if (f.guard && (run.guarded_by !== null) !== (f.guard === "guarded")) return false;
  if (f.agent && !run.agents?.includes(f.agent)) return false;
  if (f.model && !run.models?.includes(f.model)) return false;
  if (f.warning && run.warning_count === 0) return false;
  return f.warning || f.tool || f.text || f.since || f.until || f.metadata ? null : true;
}

/** The order of a list: a key of the API, and whether the smallest is first. */
export interface Order {
  sort: string;
  ascending: boolean;
}

const decisions = ["allow", "warn", "block", "halt"];

const keys: Record<string, (run: RunSummary) => string | number> = {
  started: (r) => r.started_at ?? "",
  name: (r) => r.name,
  project: (r) => r.project,
  status: (r) => r.status,
  health: (r) => r.health_score,
  decision: (r) => decisions.indexOf(r.worst_decision),
  warnings: (r) => r.warning_count,
  novelty: (r) => r.mean_novelty ?? 1,
  tool: (r) => r.tools?.[0]?.name ?? "",
  events: (r) => r.event_count,
  tokens: (r) => r.total_tokens,
  cost: (r) => r.total_cost,
  duration: (r) => r.duration_sec,
  updated: (r) => r.updated_at ?? "",
};

/** orderOf reads the order of a URL. */
export function orderOf(query: URLSearchParams): Order {
  const sort = query.get("sort") ?? "";
  return { sort: sort in keys ? sort : "started", ascending: query.get("order") === "asc" };
}

/** comparing returns a comparison of runs that orders them as the server does, except for runs with equal keys. */
export function comparing({ sort, ascending }: Order): (a: RunSummary, b: RunSummary) => number {
  const key = keys[sort]!;
  return (a, b) => {
    const [x, y] = [key(a), key(b)];
    const up = x === y ? a.arrival - b.arrival : x < y ? -1 : 1;
    return ascending ? up : -up;
  };
}
