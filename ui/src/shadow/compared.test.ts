import { describe, expect, it } from "vitest";
import type { ShadowRuns } from "../api/names";
import { compared } from "./compared";

const none: ShadowRuns = { configured: true, profile: "agentium", runs: 0, judged: 0, too_long: 0, counts: [], items: [] };

describe("the verdicts of a shadow profile", () => {
  it("are counted by whether it would have done more or less", () => {
    const counts = [["allow", "allow", 10], ["allow", "halt", 2], ["warn", "block", 1], ["halt", "warn", 4]].map(([decision, shadow_decision, runs]) => ({ decision, shadow_decision, runs })) as ShadowRuns["counts"];
    expect(compared({ ...none, runs: 20, judged: 17, too_long: 1, counts })).toBe(
      "Judged: 17 of 20 runs. The shadow profile would have done more in 3, less in 4, and the same in 10. Its decisions have no effect. 1 run is too long to judge.",
    );
    expect(compared({ ...none, runs: 1, judged: 1 })).toMatch(/^Judged: 1 run\. /);
  });
});
