// What a suggestion does, as a sentence.
import type { Suggestion } from "../api/names";
import { plural } from "../format/numbers";
import { title } from "../format/texts";

/** effectOf describes the effect of a suggestion on the labelled runs. */
function effectOf(s: Suggestion): string {
  const parts: string[] = [];
  const add = (ids: string[] | null, what: string): void => {
    if (ids && ids.length > 0) parts.push(`${what} ${plural(ids.length, "run")}`);
  };
  add(s.caught, "catches the missed loops of");
  add(s.kept, "keeps the loops of");
  add(s.dropped, "drops the false alarms of");
  add(s.remaining, "leaves the false alarms of");
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

/** sentenceOf describes a suggestion: "A same_errors of 6 instead of 4 for read_file keeps the loops of 4 runs and drops …". */
export function sentenceOf(s: Suggestion): string {
  return `${title(s.rule)}: ${s.setting} ${s.value} instead of ${s.present} for ${s.tool || "all tools"} ${effectOf(s)}.`;
}
