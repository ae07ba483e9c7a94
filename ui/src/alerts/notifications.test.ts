import { describe, expect, test } from "vitest";
import type { OverviewUpdate, RunSummary } from "../api/names";
import { levelOf, NotifiedLevels, sentence } from "./notifications.svelte";

const run = (more: Partial<RunSummary>): RunSummary =>
  ({ id: "r", name: "nightly", worst_decision: "warn", warning_count: 1, guarded_by: null, ...more }) as RunSummary;
const update = (of: Partial<RunSummary>, news = true): OverviewUpdate =>
  ({ type: "run", run: run(of), warnings: news ? [{}] : [], decisions: [], run_id: "r" }) as unknown as OverviewUpdate;

describe("a notification", () => {
  test("has the level of the worst decision, or of a warning", () => {
    expect(levelOf(run({ worst_decision: "halt" }))).toBe("halt");
    expect(levelOf(run({ worst_decision: "block" }))).toBe("block");
    expect(levelOf(run({ worst_decision: "warn" }))).toBe("raised");
    expect(levelOf(run({ worst_decision: "allow", warning_count: 0 }))).toBe(null);
  });

  test("says of an observed run what a guard would have done", () => {
    expect(sentence(run({}), "halt")).toBe("A guard would have halted nightly");
    expect(sentence(run({}), "block")).toBe("A guard would have blocked a call of nightly");
    expect(sentence(run({ guarded_by: "Go" }), "halt")).toBe("nightly was halted by the guard");
    expect(sentence(run({ guarded_by: "Go" }), "block")).toBe("A call of nightly was blocked by the guard");
    expect(sentence(run({}), "raised")).toBe("nightly repeats itself");
  });

  test("is shown once for each level of a run, and not for a lower one", () => {
    const notified = new NotifiedLevels();
    const levels = (["warn", "warn", "block", "warn", "halt", "block"] as const).map((d) => notified.next(update({ worst_decision: d }), "raised"));
    expect(levels).toEqual(["raised", null, "block", null, "halt", null]);
    expect(notified.next(update({ id: "other" }), "raised")).toBe("raised");
  });

  test("is not shown below the chosen level, without a warning or decision, or for a deleted run", () => {
    const notified = new NotifiedLevels();
    expect(notified.next(update({ worst_decision: "block" }), "halt")).toBe(null);
    expect(notified.next(update({ worst_decision: "halt" }, false), "halt")).toBe(null);
    expect(notified.next({ type: "deleted", run: null, run_id: "r" } as unknown as OverviewUpdate, "raised")).toBe(null);
    expect(notified.next(update({ worst_decision: "halt" }), "halt")).toBe("halt");
  });
});
