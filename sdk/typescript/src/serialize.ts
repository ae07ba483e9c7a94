// Serializes values as JSON when they are recorded: the agent may change them later. Every value gives valid JSON of bounded size and
// depth, also a cycle, a getter that throws, or a number that JSON lacks. A truncated value ends in a digest of the whole. Equal values
// so give equal JSON, and different values different JSON. Loop detection depends on both.

import { sha256 } from "./sha256.js";

const MAX_DEPTH = 32;
const MAX_NODES = 10_000;
const MAX_DECIMAL = 1n << 4096n; // to decimal digits, the time grows faster than the length; a longer integer is written in hexadecimal ones
const UNREADABLE = "<value that cannot be read>";
const DIGESTED = 4 << 20; // characters of a text that its digest covers

/** A value as JSON, and whether the JSON is the exact value: complete, of JSON types only. */
export interface Serialized {
  json: string;
  exact: boolean;
}

/** Returns value as JSON of about limit characters. undefined becomes null. */
export function serialize(value: unknown, limit: number): Serialized {
  try {
    if (fits(value, limit)) return { json: JSON.stringify(value), exact: true };
  } catch {
    // A member cannot be read. The copy replaces it alone, so that values that differ elsewhere stay different.
  }
  try {
    const copier = new Copier(limit, true);
    const json = JSON.stringify(copier.copy(value, 0));
    return { json, exact: copier.exact };
  } catch {
    return { json: JSON.stringify(UNREADABLE), exact: false };
  }
}

/** Reports whether value has JSON types only and is within the limits. Most events pass here, so it copies nothing. */
function fits(value: unknown, limit: number): boolean {
  let left = limit;
  let nodes = MAX_NODES;
  const visit = (item: unknown, depth: number): boolean => {
    switch (typeof item) {
      case "string":
        left -= item.length;
        return left >= 0;
      case "boolean":
        return true;
      case "number":
        return Number.isFinite(item);
      case "object":
        break;
      default:
        return false;
    }
    if (item === null) return true;
    if (depth >= MAX_DEPTH) return false;
    if (Array.isArray(item)) {
      nodes -= item.length;
      if (nodes < 0) return false;
      for (let n = 0; n < item.length; n++) if (!visit(item[n], depth + 1)) return false;
      return true;
    }
    if (!isPlain(item)) return false;
    for (const key in item) {
      left -= key.length;
      const member = (item as Record<string, unknown>)[key];
      if (--nodes < 0 || (member !== undefined && !visit(member, depth + 1))) return false;
    }
    return left >= 0;
  };
  return visit(value, 0);
}

/** Reports whether value is an object of literals and JSON, without a toJSON of its own. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return (prototype === Object.prototype || prototype === null) && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

/** Returns the JSON that replaces a value which must not be sent: its digest and size. Equal values have equal digests. */
export function redact(value: unknown): string {
  const { json } = serialize(value, DIGESTED);
  return `{"digest":"${digest(json)}","size_bytes":${json.length}}`;
}

/** Returns a hash of text in letters. Detectors may treat text with digits as an id that changes from call to call. */
export function digest(text: string): string {
  const half = DIGESTED / 2;
  const covered = text.length > DIGESTED ? `${text.length} ${text.slice(0, half)}${text.slice(-half)}` : text;
  return sha256(covered)
    .slice(0, 16)
    .replace(/./g, (digit) => "ghijklmnopqrstuv"[Number.parseInt(digit, 16)] as string);
}

/** Returns text. If it has more than limit characters, a digest of the whole replaces its end. */
export function truncate(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit).toWellFormed()}… [cut: ${text.length} characters, ${digest(text)}]`;
}

/** Returns name in at most limit bytes of UTF-8, with the rules of the server: a longer name ends in "…" and its SHA-256 hash. */
export function shorten(name: string, limit: number): string {
  if (name.length <= limit / 4) return name; // no character has more than four bytes
  const whole = new TextEncoder().encode(name);
  if (whole.length <= limit) return name;
  const end = `…${sha256(name)}`;
  let cut = limit - new TextEncoder().encode(end).length;
  while (((whole[cut] as number) & 0xc0) === 0x80) cut--; // in the middle of a character
  return new TextDecoder().decode(whole.subarray(0, cut)) + end;
}

/** Returns an error as its name and message. Other values are converted to a string. */
export function errorText(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : serialize(error, DIGESTED).json;
    return error.message ? `${error.name}: ${error.message}` : `${error.name}`;
  } catch {
    return "<error that cannot be read>";
  }
}

/** Copies a value with JSON types only, within the limits. */
class Copier {
  exact = true;
  private nodes: number;
  private readonly ancestors = new Set<object>();
  private readonly rest: Copier | undefined; // copies the part that is cut off, for its digest

  constructor(
    private left: number,
    whole: boolean,
  ) {
    this.nodes = whole ? MAX_NODES : 4 * MAX_NODES;
    this.rest = whole ? new Copier(DIGESTED, false) : undefined;
  }

  /** Copies the value, or replaces it if it cannot be read. */
  copy(value: unknown, depth: number): unknown {
    this.nodes--;
    try {
      return this.readable(value, depth);
    } catch {
      return this.replacement(UNREADABLE);
    }
  }

  private readable(value: unknown, depth: number): unknown {
    switch (typeof value) {
      case "string":
        return this.text(value);
      case "boolean":
        return value;
      case "number":
        return Number.isFinite(value) ? value : this.replacement(String(value));
      case "undefined":
        return null;
      case "bigint":
        return this.replacement(value > -MAX_DECIMAL && value < MAX_DECIMAL ? value.toString() : `hex ${value.toString(16)}`);
      case "object":
        return value === null ? null : this.object(value, depth);
      case "function":
        return this.replacement(`<function ${value.name}>`);
      default:
        return this.replacement(String(value));
    }
  }

  private text(value: string): string {
    const cut = value.length > this.left;
    if (cut) this.exact = false;
    const text = cut ? truncate(value, Math.max(this.left, 0)) : value;
    this.left -= value.length;
    return text;
  }

  private replacement(text: string): string {
    this.exact = false;
    return this.text(text);
  }

  private object(value: object, depth: number): unknown {
    if (this.ancestors.has(value)) return this.replacement("<cycle>");
    if (depth >= MAX_DEPTH) return this.replacement("<value too deep>");
    this.ancestors.add(value);
    try {
      return this.container(value, depth);
    } finally {
      this.ancestors.delete(value);
    }
  }

  private container(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.items(value, depth);
    if (isPlain(value)) return this.members(entriesOf(value), depth);
    this.exact = false;
    if (value instanceof Error) return this.text(errorText(value));
    if (value instanceof Map)
      return this.members(
        [...value].map(([key, item]) => [textOf(key), item]),
        depth,
      );
    if (value instanceof Set) return this.items([...value], depth);
    if (ArrayBuffer.isView(value)) return this.bytes(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    if (value instanceof ArrayBuffer) return this.bytes(new Uint8Array(value));
    if ("toJSON" in value && typeof value.toJSON === "function") return this.copy(value.toJSON(), depth + 1);
    return this.members(entriesOf(value), depth);
  }

  private get full(): boolean {
    return this.left <= 0 || this.nodes <= 0;
  }

  private members(entries: [string, unknown][], depth: number): Record<string, unknown> {
    const result: Record<string, unknown> = Object.create(null);
    for (const [n, [key, item]] of entries.entries()) {
      if (item === undefined || typeof item === "function") continue; // as JSON.stringify does
      if (this.full) {
        result["…"] = this.summary(entries, n, depth);
        break;
      }
      result[this.text(key)] = this.copy(item, depth + 1);
    }
    return result;
  }

  private items(values: unknown[], depth: number): unknown[] {
    const result: unknown[] = [];
    for (const item of values) {
      if (this.full) {
        result.push(`… ${this.summary(values, result.length, depth)}`);
        break;
      }
      result.push(this.copy(item, depth + 1));
    }
    return result;
  }

  /** Returns the text that replaces the members from an index on, which are cut off, with their number and digest. An array may be sparse. */
  private summary(values: unknown[], from: number, depth: number): string {
    this.exact = false;
    const cut = values.length - from;
    if (!this.rest) return `[cut: ${cut} more]`;
    const sample = this.rest.copy(values.slice(from, from + Math.max(this.rest.nodes, 0)), depth);
    return `[cut: ${cut} more, ${digest(JSON.stringify(sample))}]`;
  }

  private bytes(data: Uint8Array): string {
    const sample = data.subarray(0, DIGESTED);
    return this.text(`<${data.length} bytes, ${digest(hex(sample))}>`);
  }
}

/** Returns the members of an object. A getter that throws gives a note. */
function entriesOf(value: object): [string, unknown][] {
  return Object.keys(value).map((key) => {
    try {
      return [key, (value as Record<string, unknown>)[key]];
    } catch {
      return [key, UNREADABLE];
    }
  });
}

/** Returns the key of a map as a string. */
function textOf(key: unknown): string {
  try {
    return String(key);
  } catch {
    return UNREADABLE;
  }
}

function hex(data: Uint8Array): string {
  return Array.from(data, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
