// Attaches a nudge to a result that the protocol cannot carry: one that is not JSON, or too large for a line.

import { isPlain } from "../serialize.js";

/** Returns result with the nudge that the guard attached to sent, which is the serialized form of result. */
export function attach(result: unknown, sent: unknown, returned: unknown): unknown {
  let nudge: unknown;
  if (typeof sent === "string" && typeof returned === "string") {
    nudge = returned.slice(sent.length).trim();
    if (typeof result === "string") return `${result} ${nudge}`;
  } else {
    nudge = isPlain(returned) ? returned._loop_guard : undefined;
  }
  if (isPlain(result)) return { ...result, _loop_guard: nudge };
  return { result, _loop_guard: nudge };
}
