// Decisions of a guard, and its errors.

const actions = ["allow", "warn", "block", "halt"] as const;

export type Action = (typeof actions)[number];

/** What a guard found. The guard protocol describes the other members. */
export interface Finding {
  rule: string;
  severity: string;
  subject: string;
  count: number;
  what: string;
  why: string;
  try: string;
  [member: string]: unknown;
}

/** The answer of a guard to one line, as the protocol describes it. */
export type Answer = Record<string, unknown>;

export const UNGUARDED = "unguarded";
export const VALUE_CHARACTERS = 1 << 20; // limit of arguments, and of a result, that are sent to a guard

/** A decision about a call before it runs or after it ended. */
export class Decision {
  readonly action: Action;
  /** The reason: a rule, a level of the profile's policy, or "unguarded". */
  readonly code: string;
  /** How often the event that decided has happened. */
  readonly count: number;
  /** The nudge, a text for the model. */
  readonly message: string;
  /** What the model gets instead of the tool's result. undefined keeps the tool's result. */
  readonly result: unknown;
  readonly findings: readonly Finding[];
  /** With the setting shadow: the action that would apply without it. */
  readonly shadow: Action | "";

  constructor(answer: Answer) {
    this.action = actions.find((action) => action === answer.action) ?? "allow";
    this.code = isAction(answer.action) ? String(answer.code ?? "") : UNGUARDED;
    this.count = Number(answer.count ?? 0);
    this.message = String(answer.message ?? "");
    this.result = answer.result;
    this.findings = Array.isArray(answer.findings) ? answer.findings : [];
    this.shadow = isAction(answer.shadow) ? answer.shadow : "";
  }

  /** Whether the call may run. */
  get ok(): boolean {
    return this.action === "allow" || this.action === "warn";
  }

  /** Whether the call must not run. The model gets the result instead. */
  get stopped(): boolean {
    return !this.ok;
  }

  /** Whether the run must end. */
  get halted(): boolean {
    return this.action === "halt";
  }

  /** Whether a guard made the decision. */
  get guarded(): boolean {
    return this.code !== UNGUARDED;
  }

  /** Returns the decision. Throws LoopError if the run must end. */
  check(): this {
    if (this.halted) throw new LoopError(this);
    return this;
  }
}

function isAction(value: unknown): value is Action {
  return actions.some((action) => action === value);
}

/** The guard halted a looping agent. Do not retry the call or the run. */
export class LoopError extends Error {
  override readonly name = "LoopError";

  constructor(readonly decision: Decision) {
    super(decision.message || `halted: ${decision.code}`);
  }
}

/** No guard is available. A guard rejects its first call with it, unless onMissing is "warn". */
export class GuardUnavailable extends Error {
  override readonly name = "GuardUnavailable";
}
