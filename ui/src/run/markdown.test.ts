import { describe, expect, it } from "vitest";
import type { Decision, RunSummary, Warning } from "../api/names";
import { markdownOf } from "./markdown";

const run = { id: "r|1", name: "fix `it` <b>@ada</b>", project: "p", status: "completed", profile: "default", health_score: 5, loop_health_status: "stuck" } as RunSummary;
const warning = (message: string): Warning =>
  ({ type: "same_call_same_result", count: 7, message, event_id: "e9", details: { why: "It costs.", try: "Stop.", first_event_id: "e1" } }) as unknown as Warning;
const decision = { action: "warn", event_number: 8, event_id: "e9" } as Decision;

describe("a run as Markdown", () => {
  const text = markdownOf({ run, metrics: null, warnings: [warning("grep brought ``` again\n@ben")], decisions: [decision], verdict: "It loops.", address: "http://x/runs/r" });

  it("has its facts, warnings, first decision and address", () => {
    expect(text).toContain("| Run | `r\\|1` |");
    expect(text).toContain("### Same call same result × 7");
    expect(text).toContain("Began at `e1`, last repeat at `e9`");
    expect(text).toContain("First decision: warn at event 9 (`e9`).");
    expect(text.endsWith("<http://x/runs/r>\n")).toBe(true);
  });

  it("keeps what agents say in code, whatever ticks it has", () => {
    expect(text).toContain("## ``fix `it` <b>@ada</b>``");
    expect(text).toContain("````text\ngrep brought ``` again\n@ben\n````");
  });

  it("leaves out warnings behind the tenth, and says so", () => {
    const many = markdownOf({ run, metrics: null, warnings: Array.from({ length: 12 }, (_, i) => warning(`m${i}`)), decisions: [], verdict: "", address: "" });
    expect(many.match(/^### /gm)).toHaveLength(10);
    expect(many).toContain("2 more warnings are left out.");
  });
});
