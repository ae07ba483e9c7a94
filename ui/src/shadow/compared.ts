// What is said of the verdicts of the shadow profile.
import type { ShadowRuns } from "../api/names";
import { count, plural } from "../format/numbers";

export const decisions = ["allow", "warn", "block", "halt"];

/** compared says how many runs the shadow profile has judged, and in how many it would have done more or less than recorded. */
export function compared(found: ShadowRuns): string {
  let more = 0;
  let less = 0;
  for (const c of found.counts ?? []) {
    const by = decisions.indexOf(c.shadow_decision) - decisions.indexOf(c.decision);
    if (by > 0) more += c.runs;
    if (by < 0) less += c.runs;
  }
  const judged = found.judged === found.runs ? plural(found.runs, "run") : `${count(found.judged)} of ${plural(found.runs, "run")}`;
  const long = found.too_long > 0 ? ` ${plural(found.too_long, "run")} ${found.too_long === 1 ? "is" : "are"} too long to judge.` : "";
  return `Judged: ${judged}. The shadow profile would have done more in ${count(more)}, less in ${count(less)}, and the same in ${count(found.judged - more - less)}. Its decisions have no effect.${long}`;
}
