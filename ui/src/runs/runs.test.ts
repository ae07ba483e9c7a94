import { describe, expect, it } from "vitest";
import type { RunSummary } from "../api/names";
import { before, matches, type Filter } from "./list.svelte";

const none: Filter = { status: "", project: "", warning: "", tool: "", text: "", since: "" };
const run = { status: "failed", project: "p", warning_count: 0 } as RunSummary;

describe("a run under a filter", () => {
  it.each<[string, Partial<Filter>, boolean | null]>([
    ["belongs where nothing is asked", {}, true],
    ["belongs by its status and project", { status: "failed", project: "p" }, true],
    ["does not belong by its status", { status: "running", tool: "bash" }, false],
    ["does not belong by its project", { project: "q" }, false],
    ["without a warning does not belong to a rule", { warning: "cycle" }, false],
    ["is for the server to judge by tool", { tool: "bash" }, null],
    ["is for the server to judge by text", { text: "x" }, null],
  ])("%s", (_, filter, want) => expect(matches(run, { ...none, ...filter })).toBe(want));
});

describe("the list of runs", () => {
  it("has the latest started first, and runs that have not begun last", () => {
    const at = (started_at: string | null, arrival: number) => ({ started_at, arrival }) as RunSummary;
    const [a, b, c, d] = [at("2026-01-01T00:00:00Z", 9), at("2026-01-02T00:00:00Z", 1), at(null, 5), at("2026-01-02T00:00:00Z", 2)];
    expect([a, b, c, d].sort(before)).toEqual([d, b, a, c]);
  });
});
