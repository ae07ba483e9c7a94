// What counts as the same on the page. The server's fingerprints decide about warnings; these only fold the timeline, so they
// are simpler: canonical JSON, with what changes by itself (times, ids, durations) left out of results.
import type { Json } from "../api/names";

/** How much of a large value is looked at, in characters: this much of its beginning and of its end. */
const looked = 16_384;
const deepest = 64;

/** canonical writes a value with its keys in order, so that equal values give equal texts. */
export function canonical(value: unknown, depth = 0): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (depth >= deepest) return '"…"';
  if (Array.isArray(value)) return `[${value.map((v) => canonical(v, depth + 1)).join(",")}]`;
  const object = value as { [key: string]: Json };
  const members = Object.keys(object).sort();
  return `{${members.map((k) => `${JSON.stringify(k)}:${canonical(object[k], depth + 1)}`).join(",")}}`;
}

const volatile =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:\.\d+)?|\b1\d{9}(?:\d{3})?\b|\b0x[0-9a-f]+|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds|min)\b/gi;

/** masked replaces what changes by itself. */
export function masked(text: string): string {
  return text.replace(volatile, "~");
}

function bounded(text: string): string {
  if (text.length <= 2 * looked) return text;
  return `${text.slice(0, looked)}${text.length}${text.slice(-looked)}`;
}

/** hash returns a number for a text, of 53 bits (Bryc's cyrb53, public domain). */
export function hash(text: string, seed = 0): number {
  let a = 0xdeadbeef ^ seed;
  let b = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 2654435761);
    b = Math.imul(b ^ c, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return 4294967296 * (2097151 & b) + (a >>> 0);
}

/** callKey says which call it is: the tool and its arguments. */
export function callKey(tool: string, input: unknown): number {
  return hash(`${tool}\n${bounded(canonical(input))}`);
}

/** resultKey says what a call brought. */
export function resultKey(output: unknown, error: unknown): number {
  return hash(masked(bounded(`${canonical(output)}\n${canonical(error)}`)));
}
