// What the tests of the adapters share: the golden table, and checks that hold for every framework.

import assert from "node:assert/strict";
import { test } from "node:test";
import { flush, type Recorded, startServer } from "./harness.js";
import { type Step, USAGE, verdict, type WantedCall, works } from "./works.js";

/** The call that a stuck agent repeats. */
export const lost: WantedCall[] = [{ tool: "search", args: { query: "the lost letter" } }];

/** What the call of `lost` returns. */
export const FOUND = "one letter, of 1911";

export const types = (events: Recorded[]): string[] => events.map((event) => event.type);

/** Tests that the works have the verdicts of the golden table. The function play runs an agent over the steps, as the run with the id. */
export function testWorks(how: string, play: (id: string, steps: Step[]) => Promise<unknown>): void {
  for (const profile of ["default", "looplens"]) {
    test(`${how} have the verdicts of the golden table under ${profile}`, async () => {
      const server = await startServer("--profile", profile);
      for (const { name, steps } of works) await play(name, [...steps, "I give up."]);
      assert.equal(await flush(), true);
      for (const { name, verdicts } of works) assert.deepEqual(await verdict(server, name), verdicts[profile], name);
    });
  }
}

/** Checks an event of a model call that has ended. */
export function assertModelCall(event: Recorded | undefined, model: string, agent: string): void {
  assert.deepEqual([event?.model, event?.tokens, event?.agent], [model, USAGE.input + USAGE.output, agent]);
  assert.deepEqual(event?.usage, { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4, reasoning_tokens: 2 });
}

/** Checks that calls of `lost` were blocked after others had run, and that the recorded outputs contain no nudge. */
export function assertBlocked(events: Recorded[]): void {
  const outcomes = events.filter((event) => /^tool_call_(completed|blocked|failed)$/.test(event.type));
  assert.deepEqual([...new Set(types(outcomes))], ["tool_call_completed", "tool_call_blocked"]);
  const completed = outcomes.filter((event) => event.type === "tool_call_completed");
  assert.deepEqual([...new Set(completed.map((event) => event.output))], [FOUND]);
}
