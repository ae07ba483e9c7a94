import assert from "node:assert/strict";
import { test } from "node:test";
import { event, trace } from "../src/index.js";
import { alone, flush, startServer } from "./harness.js";
import { tools, USAGE, verdict, type Work, works } from "./works.js";

alone();

/** An agent's loop without a framework, which records its events. */
function byHand({ steps }: Work, id: string): void {
  trace("researcher", { id }, () => {
    for (const step of [...steps, []]) {
      event("llm_call_started");
      event("llm_call_completed", { tokens: USAGE.input + USAGE.output });
      for (const [n, { tool, args }] of step.entries()) {
        const call = { tool, call_id: `${tool}-${n}` };
        event("tool_call_started", { ...call, input: args });
        try {
          event("tool_call_completed", { ...call, output: tools[tool]?.run(args) });
        } catch (error) {
          event("tool_call_failed", { ...call, error });
        }
      }
    }
  });
}

for (const profile of ["default", "looplens"]) {
  test(`works told by hand have the verdicts of the golden table, by ${profile}`, async () => {
    const server = await startServer("--profile", profile);
    for (const work of works) byHand(work, work.name);
    assert.equal(await flush(), true);
    for (const work of works) assert.deepEqual(await verdict(server, work.name), work.verdicts[profile], work.name);
  });
}
