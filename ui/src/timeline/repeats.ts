// Repeated ranges: consecutive entries that repeat with the same results, as the server identifies them. The timeline collapses them.
import type { Entry } from "./entries";

export interface RepeatedRange {
  /** The first collapsed entry: the first entry of the second round. */
  from: number;
  /** The entry behind the last collapsed one. */
  to: number;
  /** The number of entries per round. */
  period: number;
  /** The number of rounds, including the first. */
  rounds: number;
}

/** The longest period, in entries: a cycle of eight tool calls with a model call before each. */
const maxPeriod = 16;
/** The fewest rounds that are collapsed. */
const minRounds = 3;

/** repeatsOf returns the repeated ranges in order, the longest one at each entry. Cost: O(entries). */
export function repeatsOf(entries: readonly Entry[]): RepeatedRange[] {
  const signatures = Float64Array.from(entries, (e) => e.signature);
  const matches = matchLengths(signatures);
  const repeats: RepeatedRange[] = [];
  for (let i = 0; i < signatures.length; ) {
    const best = longestAt(i, matches, signatures.length);
    if (best === null || !hasAction(entries, best)) {
      i++;
      continue;
    }
    repeats.push(best);
    i = best.to;
  }
  return repeats;
}

/** matchLengths returns, for each period and entry, how many entries from there equal those one period later. */
function matchLengths(signatures: Float64Array): Uint32Array[] {
  const n = signatures.length;
  const all: Uint32Array[] = [];
  for (let p = 1; p <= maxPeriod; p++) {
    const lengths = new Uint32Array(n + 1);
    for (let i = n - p - 1; i >= 0; i--) {
      const signature = signatures[i]!;
      lengths[i] = signature !== 0 && signature === signatures[i + p] ? lengths[i + 1]! + 1 : 0;
    }
    all.push(lengths);
  }
  return all;
}

function longestAt(i: number, matches: Uint32Array[], n: number): RepeatedRange | null {
  let best: RepeatedRange | null = null;
  for (let period = 1; period <= maxPeriod && i + period < n; period++) {
    const rounds = Math.floor(matches[period - 1]![i]! / period) + 1;
    if (rounds < minRounds) continue;
    const to = i + rounds * period;
    if (best === null || to > best.to + period) best = { from: i + period, to, period, rounds };
  }
  return best;
}

/** hasAction reports whether a range has more than model calls. Model calls alone do not show what the agent did. */
function hasAction(entries: readonly Entry[], f: RepeatedRange): boolean {
  for (let i = f.from; i < f.from + f.period; i++) if (entries[i]!.kind !== "llm") return true;
  return false;
}
