// Hashes by which the page recognizes equal calls and equal results. They only collapse the timeline; the server's fingerprints
// decide about warnings. They hash canonical JSON, and ignore times, ids and durations in results.
import type { Json } from "../api/names";

/** The hashed length of a large value, in characters, at its beginning and at its end. */
const hashedLength = 16_384;
const maxDepth = 64;

/** canonical returns JSON with sorted keys, so that equal values give equal texts. */
export function canonical(value: unknown, depth = 0): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (depth >= maxDepth) return '"…"';
  if (Array.isArray(value)) return `[${value.map((v) => canonical(v, depth + 1)).join(",")}]`;
  const object = value as { [key: string]: Json };
  const members = Object.keys(object).sort();
  return `{${members.map((k) => `${JSON.stringify(k)}:${canonical(object[k], depth + 1)}`).join(",")}}`;
}

const volatile =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:\.\d+)?|\b1\d{9}(?:\d{3})?\b|\b0x[0-9a-f]+|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds|min)\b/gi;

/** masked replaces times, ids and durations. */
export function masked(text: string): string {
  return text.replace(volatile, "~");
}

function bounded(text: string): string {
  if (text.length <= 2 * hashedLength) return text;
  return `${text.slice(0, hashedLength)}${text.length}${text.slice(-hashedLength)}`;
}

/** hash returns a 53-bit hash of a text (cyrb53 by Bryc, public domain). */
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

/** callHash returns a hash of a tool and its arguments. */
export function callHash(tool: string, input: unknown): number {
  return hash(`${tool}\n${bounded(canonical(input))}`);
}

/** resultHash returns a hash of a result. */
export function resultHash(output: unknown, error: unknown): number {
  return hash(masked(bounded(`${canonical(output)}\n${canonical(error)}`)));
}
