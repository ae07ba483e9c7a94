// The novelty of a run: the number of steps with a new result. It stops rising where an agent loops.
import type { Entry } from "./entries";

export interface Novelty {
  /** The number of steps at each point, from 0. */
  steps: number[];
  /** The number of those steps with a new result. */
  novel: number[];
  /** The event number of the last of those steps. */
  events: number[];
}

/** noveltyOf counts the steps of known novelty, and those with a new result, at about as many evenly spread points as given. Cost: O(entries). */
export function noveltyOf(entries: readonly Entry[], points = 1000): Novelty {
  const steps = entries.filter((e) => e.novel !== null);
  const every = Math.max(Math.ceil(steps.length / points), 1);
  const novelty: Novelty = { steps: [0], novel: [0], events: [0] };
  let novel = 0;
  steps.forEach((step, i) => {
    if (step.novel) novel++;
    if ((i + 1) % every !== 0 && i !== steps.length - 1) return;
    novelty.steps.push(i + 1);
    novelty.novel.push(novel);
    novelty.events.push(step.number);
  });
  return novelty;
}
