// Attaches a nudge to what the protocol cannot carry: a result that is not JSON or is too large for a line, and an error.

import { errorText, isPlain, truncate } from "../serialize.js";
import { type Decision, VALUE_CHARACTERS } from "./decision.js";

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

/** Appends the nudge, if there is one, to the error's message, which frameworks pass to the model. */
export function nudgeError(error: unknown, decision: Decision): void {
  if (!(error instanceof Error) || typeof decision.result !== "string") return;
  const said = truncate(errorText(error), VALUE_CHARACTERS);
  const nudge = decision.result.startsWith(said) ? decision.result.slice(said.length).trim() : decision.result;
  try {
    error.message = `${error.message} ${nudge}`;
  } catch {
    // The error is frozen.
  }
}
