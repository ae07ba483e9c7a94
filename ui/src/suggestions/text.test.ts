import { describe, expect, it } from "vitest";
import type { Suggestion } from "../api/names";
import { sentenceOf } from "./text";

const suggestion = (more: Partial<Suggestion>): Suggestion => ({
  rule: "same_error", tool: "read_file", setting: "same_errors", present: 4, value: 6, kept: [], dropped: [], remaining: [], caught: [], others: [], yaml: "", ...more,
});

describe("a suggestion", () => {
  it("says what it keeps, drops and leaves", () =>
    expect(sentenceOf(suggestion({ kept: ["a", "b"], dropped: ["c"], remaining: ["d"] }))).toBe(
      "Same error: same_errors 6 instead of 4 for read_file keeps the loops of 2 runs, drops the false alarms of 1 run and leaves the false alarms of 1 run.",
    ));
  it("for all tools says what it catches", () =>
    expect(sentenceOf(suggestion({ tool: "", value: 3, caught: ["a"] }))).toBe(
      "Same error: same_errors 3 instead of 4 for all tools catches the missed loops of 1 run.",
    ));
});
