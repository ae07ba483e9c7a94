// A run as Markdown, for an issue.
import { detailsOf, type Decision, type Metrics, type RunSummary, type Warning } from "../api/names";
import { count, dollars, duration } from "../format/numbers";
import { oneLine, title } from "../format/texts";

export interface Subject {
  run: RunSummary;
  metrics: Metrics | null;
  warnings: readonly Warning[];
  decisions: readonly Decision[];
  verdict: string;
  address: string;
}

/** The warnings that are described. */
const most = 10;

/** markdownOf describes a run. Texts of agents and tools are in code, so that they make no links, mentions or HTML. */
export function markdownOf(s: Subject): string {
  const { run, metrics } = s;
  const facts: [string, string][] = [
    ["Run", code(run.id)], ["Project", code(run.project)], ["Status", run.status], ["Profile", code(run.profile)],
    ["Health", `${run.health_score} of 100, ${run.loop_health_status}`],
  ];
  if (metrics) facts.push(["Events", count(metrics.total_events)], ["Tool calls", count(metrics.total_tool_calls)], ["Failed steps", count(metrics.total_failed_steps)]);
  if (metrics?.total_tokens) facts.push(["Tokens", count(metrics.total_tokens)]);
  if (metrics?.estimated_cost) facts.push(["Cost", dollars(metrics.estimated_cost)]);
  if (metrics && metrics.total_duration_sec > 0) facts.push(["Duration", duration(metrics.total_duration_sec * 1000)]);
  const first = s.decisions[0];
  const parts = [
    `## ${code(run.name)}`,
    s.verdict,
    [`| | |`, `|---|---|`, ...facts.map(([name, value]) => `| ${name} | ${value.replaceAll("|", "\\|")} |`)].join("\n"),
    ...s.warnings.slice(0, most).map(warning),
    s.warnings.length > most ? `${s.warnings.length - most} more warnings are left out.` : "",
    first ? `First decision: ${first.action} at event ${count(first.event_number + 1)} (${code(first.event_id)}).` : "",
    `<${s.address}>`,
  ];
  return `${parts.filter(Boolean).join("\n\n")}\n`;
}

function warning(w: Warning): string {
  const d = detailsOf(w);
  const lines = [
    `### ${title(w.type)}${w.count === null ? "" : ` × ${w.count}`}`,
    fence(w.message),
    d.why ?? "",
    d.try ? `Try: ${d.try}` : "",
    [d.first_event_id ? `Began at ${code(d.first_event_id)}` : "", w.event_id ? `last repeat at ${code(w.event_id)}` : ""].filter(Boolean).join(", "),
  ];
  return lines.filter(Boolean).join("\n\n");
}

/** code is a text as code on one line. The text may have backticks. */
function code(text: string): string {
  const line = oneLine(text, 300);
  if (line === "") return "";
  const tick = "`".repeat(1 + longest(line));
  return line.startsWith("`") || line.endsWith("`") ? `${tick} ${line} ${tick}` : `${tick}${line}${tick}`;
}

/** fence is a text as a block of code. */
function fence(text: string): string {
  const tick = "`".repeat(Math.max(3, 1 + longest(text)));
  return `${tick}text\n${text}\n${tick}`;
}

function longest(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((t) => t.length));
}
