// How much of a run was new: the line that stops rising where an agent goes round.
import type { Entry } from "./entries";

export interface News {
  /** Numbers of steps, from 1. */
  steps: number[];
  /** How many of the steps so far brought something new. */
  fresh: number[];
  /** The event number of each step's outcome. */
  events: number[];
}

/** newsOf counts. At most points steps are told, spread evenly. Cost: O(entries). */
export function newsOf(entries: readonly Entry[], points = 1000): News {
  const steps = entries.filter((e) => e.kind === "tool" && e.last !== null);
  const every = Math.max(Math.ceil(steps.length / points), 1);
  const news: News = { steps: [0], fresh: [0], events: [0] };
  let fresh = 0;
  steps.forEach((step, i) => {
    if (step.news) fresh++;
    if ((i + 1) % every !== 0 && i !== steps.length - 1) return;
    news.steps.push(i + 1);
    news.fresh.push(fresh);
    news.events.push(step.number);
  });
  return news;
}
