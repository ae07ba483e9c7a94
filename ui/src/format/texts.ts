// Formats values of agents and tools as text. Nothing here creates HTML.
import { count, plural } from "./numbers";

export function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** oneLine formats a value as one line of at most length characters. */
export function oneLine(value: unknown, length = 200): string {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value.slice(0, 4 * length) : JSON.stringify(value).slice(0, 4 * length);
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** argument formats the arguments of a call: a single value without its name, several with their names. */
export function argument(input: unknown, length = 200): string {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return oneLine(input, length);
  const members = Object.entries(input).slice(0, 20);
  if (members.length === 1) return oneLine(members[0]![1], length);
  return oneLine(members.map(([k, v]) => `${k}: ${oneLine(v, 80)}`).join(", "), length);
}

/** endsOf splits a name for display: what may be cut, and its end, which stays in sight. A short name and a sentence have no such end. */
export function endsOf(name: string): [string, string] {
  const letters = [...name];
  return letters.length > 20 && !/\s/.test(name) ? [letters.slice(0, -10).join(""), letters.slice(-10).join("")] : [name, ""];
}

/** unbroken keeps each figure on one line with its unit. It is for display: the text gets spaces that do not break. */
export function unbroken(text: string): string {
  return text.replace(/(\d[kM]?) (?=(%|ms|s|min|h|d|calls?|tokens?|steps?|events?|runs?|points)(?![\p{L}\p{N}_]))/gu, "$1\u00a0");
}

/** sentenceCase begins a text with a capital if it begins with an article. Other words may be the name of a tool. */
export function sentenceCase(text: string): string {
  return /^(the|an?) /.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

/** title formats the name of a rule or an event type as words. */
export function title(name: string): string {
  const words = name.replaceAll("_", " ").replace(/^llm\b/, "model");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The number of events that a warning keeps as evidence: the latest ones. */
const keptEvidence = 8;

/** evidenceOf says how many events a warning links to, and that there may be earlier ones. */
export function evidenceOf(events: number): string {
  return events < keptEvidence ? `Evidence: ${plural(events, "event")}` : `Evidence: latest ${count(events)}`; // in one line on a phone
}
