import { describe, expect, it } from "vitest";
import type { RunSummary } from "../api/names";
import { comparing, filterOf, kept, matches, orderOf, type Filter } from "./filter";

const none = filterOf(new URLSearchParams());
const run = {
  status: "failed", project: "p", warning_count: 0, loop_health_status: "stuck", worst_decision: "warn", guarded_by: "Go", agents: ["coder"], models: ["m-1"],
} as RunSummary;

describe("a run under a filter", () => {
  it.each<[string, Partial<Filter>, boolean | null]>([
    ["belongs where nothing is asked", {}, true],
    ["belongs by its status and project", { status: "failed", project: "p" }, true],
    ["belongs by one of several decisions", { decision: "warn,block,halt" }, true],
    ["does not belong by another decision", { decision: "allow" }, false],
    ["belongs by its guard, agent and model", { guard: "guarded", agent: "coder", model: "m-1" }, true],
    ["does not belong by its guard", { guard: "observed" }, false],
    ["does not belong by its agent", { agent: "code" }, false],
    ["does not belong by its model", { model: "m-2" }, false],
    ["does not belong by its health", { health: "healthy,repeated" }, false],
    ["does not belong by its status", { status: "running", tool: "bash" }, false],
    ["does not belong by its project", { project: "q" }, false],
    ["without a warning does not belong to a rule", { warning: "cycle" }, false],
    ["is for the server to judge by tool", { tool: "bash" }, null],
    ["is for the server to judge by text", { text: "x" }, null],
    ["is for the server to judge by metadata", { metadata: "prompt=v2" }, null],
  ])("%s", (_, filter, want) => expect(matches(run, { ...none, ...filter })).toBe(want));
});

describe("the list of runs", () => {
  const sorted = (query: string, runs: Partial<RunSummary>[]) => (runs as RunSummary[]).sort(comparing(orderOf(new URLSearchParams(query))));

  it("has the latest started first, and runs that have not begun last", () => {
    const at = (started_at: string | null, arrival: number) => ({ started_at, arrival });
    const [a, b, c, d] = [at("2026-01-01T00:00:00Z", 9), at("2026-01-02T00:00:00Z", 1), at(null, 5), at("2026-01-02T00:00:00Z", 2)];
    expect(sorted("", [a, b, c, d])).toEqual([d, b, a, c]);
    expect(sorted("order=asc", [a, b, c, d])).toEqual([c, a, b, d]);
  });
  it("is sorted by what the URL says, and by the start if that is unknown", () => {
    const [a, b] = [{ total_cost: 1, started_at: "2", arrival: 1 }, { total_cost: 2, started_at: "1", arrival: 2 }];
    expect(sorted("sort=cost", [a, b])).toEqual([b, a]);
    expect(sorted("sort=nothing", [b, a])).toEqual([a, b]);
  });
  it("has the run with the least novelty first, and those of which it is unknown last", () => {
    const [low, unknown, high] = [{ mean_novelty: 0.1, arrival: 1 }, { mean_novelty: null, arrival: 3 }, { mean_novelty: 0.9, arrival: 2 }];
    expect(sorted("sort=novelty&order=asc", [unknown, high, low])).toEqual([low, high, unknown]);
  });
  it("is sorted by the most called tool", () => {
    const tools = (...names: string[]) => names.map((name) => ({ name, calls: 1 }));
    const [a, b, none] = [{ tools: tools("bash", "z"), arrival: 1 }, { tools: tools("read"), arrival: 2 }, { tools: [], arrival: 3 }];
    expect(sorted("sort=tool&order=asc", [b, a, none])).toEqual([none, a, b]);
  });
  it("has the most severe decision first, not the first letter", () => {
    const [warn, halt, allow] = [{ worst_decision: "warn", arrival: 1 }, { worst_decision: "halt", arrival: 2 }, { worst_decision: "allow", arrival: 3 }] as const;
    expect(sorted("sort=decision", [warn, allow, halt])).toEqual([halt, warn, allow]);
  });
});

describe("a link to another page", () => {
  it("keeps the filters, and nothing else", () => {
    expect(kept(filterOf(new URLSearchParams("project=a%26b&sort=cost&x=1")), { tool: "grep" })).toBe("?project=a%26b&tool=grep");
    expect(kept(none)).toBe("");
  });
});
