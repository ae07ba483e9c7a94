// Where entries go round: stretches that repeat the same entries with the same results, which the timeline folds.
import type { Entry } from "./entries";

export interface Fold {
  /** The first entry that is folded away: the first of the second round. */
  from: number;
  /** Behind the last. */
  to: number;
  /** How many entries a round has. */
  period: number;
  /** How many rounds there are, the first one included. */
  rounds: number;
}

/** A cycle of eight calls, each with a call of the model before it, is as long as this. */
const longest = 16;
/** From so many rounds on a stretch is folded. */
const fewest = 3;

/** foldsOf finds the repeated stretches, from the first entry on, the longest one at each place. Cost: O(entries). */
export function foldsOf(entries: readonly Entry[]): Fold[] {
  const signs = Float64Array.from(entries, (e) => e.sign);
  const reach = reaches(signs);
  const folds: Fold[] = [];
  for (let i = 0; i < signs.length; ) {
    const best = bestAt(i, reach, signs.length);
    if (best === null || !tells(entries, best)) {
      i++;
      continue;
    }
    folds.push(best);
    i = best.to;
  }
  return folds;
}

/** reaches says for each period and place how many entries from there on are equal to those one period later. */
function reaches(signs: Float64Array): Uint32Array[] {
  const n = signs.length;
  const all: Uint32Array[] = [];
  for (let p = 1; p <= longest; p++) {
    const reach = new Uint32Array(n + 1);
    for (let i = n - p - 1; i >= 0; i--) {
      const sign = signs[i]!;
      reach[i] = sign !== 0 && sign === signs[i + p] ? reach[i + 1]! + 1 : 0;
    }
    all.push(reach);
  }
  return all;
}

function bestAt(i: number, reach: Uint32Array[], n: number): Fold | null {
  let best: Fold | null = null;
  for (let period = 1; period <= longest && i + period < n; period++) {
    const rounds = Math.floor(reach[period - 1]![i]! / period) + 1;
    if (rounds < fewest) continue;
    const to = i + rounds * period;
    if (best === null || to > best.to + period) best = { from: i + period, to, period, rounds };
  }
  return best;
}

/** tells reports whether a stretch is worth folding: calls of the model alone say nothing about what the agent did. */
function tells(entries: readonly Entry[], f: Fold): boolean {
  for (let i = f.from; i < f.from + f.period; i++) if (entries[i]!.kind !== "llm") return true;
  return false;
}
