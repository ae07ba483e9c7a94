// Reads the objects of frameworks without assumptions about their shape.

const MAX_TEXT = 1 << 20; // longest text that is parsed, in characters

export type Fields = Record<string, unknown>;

/** Returns value as an object whose members can be read. */
export function members(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Returns the arguments of a call. They are JSON text; other text is itself. */
export function argumentsOf(input: unknown): unknown {
  if (typeof input !== "string" || input.length > MAX_TEXT) return input;
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}
