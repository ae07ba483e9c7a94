/**
 * Observes AI agents and guards them against loops. Observing sends an agent's events to a server. A Guard decides about each tool call
 * while the agent runs: it nudges, blocks and halts.
 *
 * @packageDocumentation
 */

export { configure, flush, shutdown, stats } from "./core.js";
export { type Action, Decision, type Finding, GuardUnavailable, LoopError } from "./guard/decision.js";
export { type Annotations, type Call, type CallOutcome, Guard, type GuardOptions } from "./guard/guard.js";
export { program } from "./guard/program.js";
export { type Kind, type ObserveOptions, observe } from "./observe.js";
export { currentRun, type EventFields, type EventType, event, type Run, type RunOptions, trace, type Usage } from "./run.js";
export type { Stats } from "./sender.js";
export type { Configuration, Settings } from "./settings.js";
