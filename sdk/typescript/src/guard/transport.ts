// The guard protocol as lines of requests and responses. This module is shared by the child process and the server: it keeps the lines
// of a run in order, keeps snapshots of the runs, and restores them in a guard that was restarted.

import type { Run } from "../run.js";
import type { Answer } from "./decision.js";

// A snapshot is due after max(SNAPSHOT_LINES, size of the last snapshot / SNAPSHOT_CHARACTERS) lines of a run, so that its cost per
// line is about constant. It is also due after SNAPSHOT_MS with at least one line.
const SNAPSHOT_LINES = 8;
const SNAPSHOT_CHARACTERS = 4096;
const SNAPSHOT_MS = 5000;
const MAX_RUNS = 256; // runs whose snapshots are kept; the least recently used is evicted

/** The guard is not available now. */
export class Unavailable extends Error {}

/** The state of one run on this side of the protocol. */
export class RunState {
  generation: number | undefined;
  snapshot = "";
  linesSinceSnapshot = 0;
  snapshotAt = performance.now();
  tail: Promise<unknown> = Promise.resolve(); // ends with the latest line of the run
  reported: Run | undefined; // the run to which a decision was reported

  constructor(readonly name: string) {}

  get snapshotDue(): boolean {
    if (this.linesSinceSnapshot >= Math.max(SNAPSHOT_LINES, this.snapshot.length / SNAPSHOT_CHARACTERS)) return true;
    return this.linesSinceSnapshot > 0 && performance.now() - this.snapshotAt > SNAPSHOT_MS;
  }
}

/** A connection to a guard. */
export abstract class Transport {
  protected generation = 1; // increases when the guard may have lost its runs
  private readonly states = new Map<string, RunState>();

  /** Sends lines and resolves with one response for each. Rejects with Unavailable. */
  protected abstract exchange(lines: string[], timeoutMs: number): Promise<string[]>;

  runState(name: string): RunState {
    const state = this.states.get(name) ?? new RunState(name);
    this.states.delete(name);
    this.states.set(name, state);
    const [oldest] = this.states.keys();
    if (this.states.size > MAX_RUNS && oldest !== undefined) this.states.delete(oldest);
    return state;
  }

  drop(name: string): void {
    this.states.delete(name);
  }

  /** Sends a line of a run and resolves with the response. Rejects with Unavailable. */
  ask(state: RunState, line: string, timeoutMs: number): Promise<Answer> {
    const answer = state.tail.then(() => this.askNow(state, line, timeoutMs));
    state.tail = answer.catch(() => {});
    return answer;
  }

  private async askNow(state: RunState, line: string, timeoutMs: number): Promise<Answer> {
    const lines = [line];
    if (state.generation !== this.generation && state.snapshot) {
      lines.unshift(lineOf("restore", state, `,"snapshot":${state.snapshot}`));
    }
    const snapshotDue = state.snapshotDue;
    if (snapshotDue) lines.push(lineOf("snapshot", state, ""));
    const { generation } = this;
    const answers = await this.exchange(lines, timeoutMs);
    state.generation = generation;
    state.linesSinceSnapshot = snapshotDue ? 0 : state.linesSinceSnapshot + 1;
    if (snapshotDue) {
      state.snapshotAt = performance.now();
      keepSnapshot(state, answers.pop() ?? "");
    }
    return objectOf(answers.at(-1) ?? "");
  }
}

/** Keeps the text of the snapshot: parsing it would cost more than taking it. */
function keepSnapshot(state: RunState, answer: string): void {
  const marker = '"snapshot":';
  const at = answer.indexOf(marker);
  if (at >= 0 && !answer.slice(0, at).includes('"error"'))
    state.snapshot = answer.slice(at + marker.length, answer.lastIndexOf("}"));
}

function lineOf(op: string, state: RunState, more: string): string {
  return `{"op":"${op}","run":${JSON.stringify(state.name)}${more}}\n`;
}

function objectOf(line: string): Answer {
  let answer: unknown;
  try {
    answer = JSON.parse(line);
  } catch {
    throw new Unavailable("the guard's response is not JSON");
  }
  if (typeof answer !== "object" || answer === null) throw new Unavailable("the guard's response is not a JSON object");
  return answer as Answer;
}
