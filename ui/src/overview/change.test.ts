import { describe, expect, it } from "vitest";
import type { OverviewTotals } from "../api/names";
import { chance, percent, queryOf, verdict } from "./change";

const of = (runs: number, looping_runs: number) => ({ runs, looping_runs }) as OverviewTotals;

describe("the loop rates of two groups", () => {
  it("differ by chance as the two-proportion test says", () => {
    expect(chance(of(100, 20), of(100, 8))).toBeCloseTo(0.0143, 3); // z = 2.4495
    expect(chance(of(50, 5), of(50, 5))).toBeCloseTo(1, 6);
    expect(chance(of(50, 0), of(50, 0))).toBe(1);
  });
  it.each([
    ["a clear fall", of(400, 80), of(400, 20), "The loop rate fell from 20 % to 5.0 %. A difference like this is unlikely to be chance (p < 0.001)."],
    ["a rise that may be chance", of(40, 4), of(40, 6), "The loop rate rose from 10 % to 15 %. This may be chance (p = 0.50)."],
    ["equal rates", of(40, 4), of(80, 8), "The loop rate stayed at 10 %."],
    ["few runs", of(5, 1), of(400, 0), "The loop rate fell from 20 % to 0 %. With fewer than 20 runs on a side, this says little."],
    ["no runs", of(5, 1), of(0, 0), "B has no runs."],
  ])("are said of %s", (_, a, b, want) => expect(verdict(a, b)).toBe(want));
});

describe("a side of the comparison", () => {
  it("is a period or a value", () => {
    expect(queryOf("prompt=v1/2")).toEqual({ metadata: "prompt=v1/2" });
    expect(queryOf("2026-05-01T12:00:00Z/2026-05-02T12:00:00Z")).toEqual({ since: "2026-05-01T12:00:00Z", until: "2026-05-02T12:00:00Z" });
    expect(queryOf("yesterday/today")).toBe(null);
    expect(queryOf("")).toBe(null);
  });
});

describe("a share", () => {
  it("has a decimal where it matters", () => expect([0, 0.004, 0.083, 0.5].map(percent)).toEqual(["0 %", "0.4 %", "8.3 %", "50 %"]));
});
