import { describe, expect, it } from "vitest";
import type { RunSummary, Warning } from "../api/names";
import { dollars, duration, offset, plural, short, signed } from "./numbers";
import { argument, endsOf, evidenceOf, oneLine, title, unbroken } from "./texts";
import { guardOf, watchedBy, worstOf } from "./decisions";
import { bySeverity, usageWithout, verdictOf, worst } from "./verdict";

describe("numbers", () => {
  it("are short where they are large", () => expect([9999, 12_400, 100_000, 2_500_000].map(short)).toEqual(["9,999", "12.4k", "100k", "2.5M"]));
  it("of money have cents where those matter", () => expect([0, 0.0042, 0.048, 12.5, -0.5].map(dollars)).toEqual(["$0", "$0.0042", "$0.048", "$12.50", "−$0.500"]));
  it("of time have a unit", () =>
    expect([0.2, 41, 5230, 91_000, 1_800_000, 7_260_000, 200_000_000].map(duration)).toEqual(["<1 ms", "41 ms", "5.2 s", "1 min 31 s", "30 min", "2 h 1 min", "2 d 7 h"]));
  it("of time since the start are as on a clock", () => expect([0, 312, 61_540, 3_601_000].map(offset)).toEqual(["0.00 s", "0.31 s", "1:01.5", "1:00:01.0"]));
  it("have signs as differences", () => expect([signed(0), signed(3), signed(-2), signed(-0.5, dollars)]).toEqual(["±0", "+3", "−2", "−$0.500"]));
  it("go with their nouns", () => expect([plural(1, "entry", "entries"), plural(2000, "entry", "entries")]).toEqual(["1 entry", "2,000 entries"]));
});

describe("names", () => {
  it("keep their end in sight where they are long", () => expect(endsOf("fix-scikit-learn__scikit-learn-12345")).toEqual(["fix-scikit-learn__scikit-l", "earn-12345"]));
  it("are whole where they are short, and where they are sentences", () =>
    expect(["fix-login", "Fix the timeout of the login"].map(endsOf)).toEqual([["fix-login", ""], ["Fix the timeout of the login", ""]]));
  it("are not split within a letter", () => expect(endsOf("x".repeat(20) + "🌍".repeat(10))).toEqual(["x".repeat(20), "🌍".repeat(10)]));
});

describe("texts of agents", () => {
  it("are truncated to a line", () => expect(oneLine("a\n\n b".repeat(100), 10)).toBe("a ba ba b…"));
  it("are arguments in short", () => {
    expect(argument({ path: "a.go" })).toBe("a.go");
    expect(argument({ path: "a.go", limit: 5 })).toBe("path: a.go, limit: 5");
    expect(argument(null)).toBe("");
  });
  it("keep a figure and its unit on one line", () =>
    expect(unbroken("The last 5 steps: 0 % was new; 2,698 calls, 7.2k tokens, 1 min 31 s, in 4 small parts")).toBe(
      "The last 5\u00a0steps: 0\u00a0% was new; 2,698\u00a0calls, 7.2k\u00a0tokens, 1\u00a0min 31\u00a0s, in 4 small parts"));
  it("make words of names", () => expect([title("same_call_same_result"), title("llm_call")]).toEqual(["Same call same result", "Model call"]));
});

const run = {
  status: "running", event_count: 12, loop_health_status: "healthy", worst_decision: "allow", guarded_by: null, shadowed_by: null, stopped: false, stopped_after: null,
  avoided: { calls: 0, tokens: 0, cost: 0 }, wasted: { calls: 0, tokens: 0, cost: 0 }, calls_after_warning: 0, tokens_after_warning: 0, cost_after_warning: 0,
} as RunSummary;
const warning = (severity: string, count: number, period = 1) => ({ type: "cycle", severity, count, details: { period } }) as unknown as Warning;

describe("the evidence of a warning", () => {
  it("is counted", () => expect(evidenceOf(3)).toBe("Evidence: 3 events"));
  it("is the latest, if there may be more", () => expect(evidenceOf(8)).toBe("Evidence: latest 8"));
});

describe("a verdict", () => {
  it("names the warning that comes first in the lists", () => {
    const all = [warning("info", 90), warning("warning", 14), warning("warning", 8, 2), warning("critical", 1)];
    expect([...all].sort(bySeverity)).toEqual([all[3], all[2], all[1], all[0]]);
    expect(worst(all)).toBe([...all].sort(bySeverity)[0]);
  });
  it("lists usage without the figure beside it", () => {
    const usage = { calls: 16, tokens: 102_720, cost: 0.321 };
    expect([usageWithout("cost", usage), usageWithout("calls", usage), usageWithout("calls", { ...usage, tokens: 0, cost: 0 })]).toEqual(["16 calls and 102,720 tokens", "102,720 tokens and $0.321", ""]);
  });
  it("says that the run has no loop", () => {
    expect(verdictOf(run, [])).toBe("No loop in 12 events so far.");
    expect(verdictOf({ ...run, status: "failed" }, [])).toBe("The run failed. No loop in 12 events.");
  });
  it("states the usage since the first warning", () => {
    const stuck = { ...run, loop_health_status: "stuck", calls_after_warning: 12, tokens_after_warning: 14_400, cost_after_warning: 0.048 } as RunSummary;
    expect(verdictOf(stuck, [warning("warning", 3)])).toBe(
      "This run is stuck in a loop: cycle, 3 times. Usage since the first warning: 12 calls, 14,400 tokens and $0.048.",
    );
    expect(verdictOf(stuck, [warning("warning", 6, 3)])).toMatch(/^This run is stuck in a loop: cycle of 3 steps, 6 times\. /);
    expect(verdictOf({ ...stuck, calls_after_warning: 1, tokens_after_warning: 0, cost_after_warning: 0 }, [warning("warning", 3)])).toMatch(/ Usage since the first warning: 1 call\.$/);
    expect(verdictOf({ ...stuck, calls_after_warning: 0, tokens_after_warning: 0, cost_after_warning: 0 }, [warning("warning", 3)])).toBe("This run is stuck in a loop: cycle, 3 times.");
    expect(verdictOf({ ...stuck, status: "failed" }, [warning("warning", 3)])).toMatch(/^This run was stuck in a loop: /);
  });
  it("says what a guard did, and what it would have done in an observed run", () => {
    const stopped = { ...run, worst_decision: "halt", stopped: true, stopped_after: 7 } as RunSummary;
    const guarded = { ...stopped, guarded_by: "Go", avoided: { calls: 5, tokens: 900, cost: 0.01 } };
    expect(verdictOf(guarded, [warning("warning", 7)])).toBe("Halted by the guard after 7 repeats. Cycle, 7 times. Saved by unloop: about 5 calls, 900 tokens and $0.010 (estimate).");
    expect(verdictOf({ ...guarded, worst_decision: "block", stopped_after: null, avoided: run.avoided }, [])).toBe("Calls were blocked by the guard.");
    expect(verdictOf({ ...stopped, wasted: { calls: 3, tokens: 0, cost: 0 } }, [warning("warning", 7)])).toBe(
      "This run loops: cycle, 7 times. A guard would have halted it. Used since then: 3 calls.",
    );
    const nudged = { ...run, loop_health_status: "looping", worst_decision: "warn" } as RunSummary;
    expect(verdictOf(nudged, [warning("warning", 7)])).toBe("This run loops: cycle, 7 times. A guard would have nudged it.");
    expect(verdictOf({ ...nudged, guarded_by: "Go" }, [warning("warning", 7)])).toBe("This run loops: cycle, 7 times. The guard nudged it.");
    expect(verdictOf({ ...nudged, status: "completed" }, [warning("warning", 7)])).toMatch(/^This run looped: /);
    expect([worstOf(guarded), worstOf(stopped), worstOf(run)]).toEqual(["halted", "would have halted", ""]);
    const by = { by: "Go" };
    expect([guardOf({ guard: by }), guardOf({ guard: { ...by, action: "warn" } }), guardOf({ guard: { ...by, action: "halt", shadow: true } }), guardOf(null)]).toEqual(
      ["by Go", "nudged by Go", "would have halted by Go", ""],
    );
    expect([watchedBy(guarded), watchedBy(run), watchedBy({ ...run, shadowed_by: "Go" })]).toEqual(["guarded by Go", "observed", "observed, Go in shadow mode"]);
  });
  it("is about the most severe warning, and the longest loop among those", () => {
    const list = [warning("info", 99), warning("warning", 7), warning("warning", 6, 3), warning("critical", 1)];
    expect(worst(list)).toBe(list[3]);
    expect(worst(list.slice(0, 3))).toBe(list[2]);
    expect(worst([])).toBe(null);
  });
});
