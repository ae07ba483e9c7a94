// Compares two groups of runs: did a change help?
import type { Overview, OverviewTotals } from "../api/names";
import { dollars, duration, plural, signed } from "../format/numbers";

/** priced reports whether the cost of a period is known. Else its calls are what was spent. */
export const priced = (o: Overview): boolean => o.usage.cost > 0 || o.previous.usage.cost > 0;

/** spent formats usage by its cost, or by its calls. */
export function spent(u: { cost: number; calls: number }, byCost: boolean): string {
  if (byCost) return dollars(u.cost);
  return u.calls > 0 ? plural(u.calls, "call") : "–";
}

/** percent formats a share of 0 to 1. */
export function percent(share: number): string {
  const p = 100 * share;
  return `${p > 0 && p < 10 ? p.toFixed(1) : Math.round(p)} %`;
}

export const rate = (t: OverviewTotals): number => (t.runs > 0 ? t.looping_runs / t.runs : 0);
const each = (t: OverviewTotals, n: number): number => (t.runs > 0 ? n / t.runs : 0);
const points = (n: number): string => `${Math.abs(100 * n) < 10 ? (100 * n).toFixed(1) : Math.round(100 * n)} points`;

/** The figures that are compared. Less is better for all of them. */
export const figures: { name: string; of: (t: OverviewTotals) => number; write: (n: number) => string; difference: (n: number) => string }[] = [
  { name: "Loop rate", of: rate, write: percent, difference: (n) => signed(n, points) },
  { name: "Cost after the first warning, per run", of: (t) => each(t, t.usage_after_warning.cost), write: dollars, difference: (n) => signed(n, dollars) },
  { name: "Cost per run", of: (t) => each(t, t.usage.cost), write: dollars, difference: (n) => signed(n, dollars) },
  { name: "Tool calls per run", of: (t) => each(t, t.usage.calls), write: (n) => n.toFixed(1), difference: (n) => signed(n, (m) => m.toFixed(1)) },
  { name: "Tokens per run", of: (t) => Math.round(each(t, t.usage.tokens)), write: (n) => n.toLocaleString("en-US"), difference: (n) => signed(n) },
  { name: "Median duration", of: (t) => t.median_duration_sec * 1000, write: (n) => (n ? duration(n) : "–"), difference: (n) => signed(n, duration) },
  { name: "Mean latency of a step", of: (t) => t.average_latency_ms, write: (n) => (n ? duration(n) : "–"), difference: (n) => signed(n, duration) },
];

/** chance returns the p-value of the two-proportion z-test: how likely a difference of the loop rates of at least this size is by chance. */
export function chance(a: OverviewTotals, b: OverviewTotals): number {
  const both = (a.looping_runs + b.looping_runs) / (a.runs + b.runs);
  const spread = Math.sqrt(both * (1 - both) * (1 / a.runs + 1 / b.runs));
  if (!(spread > 0)) return 1;
  return 2 * (1 - normal(Math.abs(rate(a) - rate(b)) / spread));
}

/** normal is the standard normal distribution, for z ≥ 0 (Abramowitz and Stegun 26.2.17; the error is below 1e-7). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * tail;
}

/** Fewer runs than this on a side say nothing of its rate. */
const few = 20;

/** verdict says whether the loop rate of b differs from that of a. */
export function verdict(a: OverviewTotals, b: OverviewTotals): string {
  if (a.runs === 0 || b.runs === 0) return `${a.runs === 0 ? "A" : "B"} has no runs.`;
  const same = percent(rate(a)) === percent(rate(b));
  const said = same ? `The loop rate stayed at ${percent(rate(b))}.` : `The loop rate ${rate(b) < rate(a) ? "fell" : "rose"} from ${percent(rate(a))} to ${percent(rate(b))}.`;
  if (a.runs < few || b.runs < few) return `${said} With fewer than ${few} runs on a side, this says little.`;
  if (same) return said;
  const p = chance(a, b);
  if (p < 0.05) return `${said} A difference like this is unlikely to be chance (p ${p < 0.001 ? "< 0.001" : `= ${p.toFixed(3)}`}).`;
  return `${said} This may be chance (p = ${p.toFixed(2)}).`;
}

/** A side is a period or a value of a member of the metadata, as the URL holds it: FROM/TO or NAME=VALUE. */
export function queryOf(side: string): Record<string, string> | null {
  const at = side.indexOf("=");
  if (at > 0) return { metadata: side };
  const [since = "", until = ""] = side.split("/");
  if (Number.isNaN(Date.parse(since)) || Number.isNaN(Date.parse(until))) return null;
  return { since, until };
}
