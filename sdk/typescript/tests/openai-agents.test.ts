import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent, OpenAIProvider, Runner, setTraceProcessors, setTracingDisabled, tool, withTrace } from "@openai/agents";
import { z } from "zod";
import { trace } from "../src/index.js";
import { haltOf, LoopGuard, Recorder } from "../src/openai-agents.js";
import { assertBlocked, assertModelCall, FOUND, lost, testWorks, types } from "./adapters.js";
import { alone, atEnd, flush, type Scripted, startServer } from "./harness.js";
import { startModel } from "./modelapi.js";
import { tools as archive, type Step } from "./works.js";

alone();
setTracingDisabled(false); // the SDK disables it in tests

function toolset() {
  return Object.entries(archive).map(([name, { description, parameter, run }]) =>
    tool({
      name,
      description,
      parameters: z.object({ [parameter]: z.union([z.string(), z.number()]) }),
      execute: async (args) => run(args),
    }),
  );
}

/** Runs an agent against a model, recorded, and returns its result. */
async function run<A extends Agent>(agent: A, model: Scripted, groupId = "r") {
  setTraceProcessors([new Recorder()]);
  atEnd(() => setTraceProcessors([]));
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: model.url, useResponses: true });
  return await new Runner({ modelProvider, groupId }).run(agent, "Find the lost letter.", { maxTurns: 100 });
}

const outputs = (model: Scripted): string[] => {
  const { input } = JSON.parse(model.requests.at(-1)?.body ?? "{}");
  return input
    .filter((item: { type?: string }) => item.type === "function_call_output")
    .map((item: { output: unknown }) => (typeof item.output === "string" ? item.output : JSON.stringify(item.output)));
};

testWorks("works", async (id, steps) =>
  run(new Agent({ name: "researcher", model: "script", tools: toolset() }), await startModel(steps), id),
);

test("a trace is recorded with its user's message, token kinds and agents", async () => {
  const server = await startServer();
  await run(new Agent({ name: "researcher", model: "script", tools: toolset() }), await startModel([lost, "Found."]));
  await flush();
  const events = await server.events("r");
  assert.deepEqual(types(events), [
    "run_started",
    "llm_call_started",
    "message",
    "llm_call_completed",
    "tool_call_started",
    "tool_call_completed",
    "llm_call_started",
    "llm_call_completed",
    "run_completed",
  ]);
  assert.deepEqual([events[2]?.role, events[2]?.text], ["user", "Find the lost letter."]);
  assertModelCall(events[3], "script-1", "researcher");
  assert.deepEqual([events[4]?.tool, events[4]?.input, events[5]?.output], ["search", { query: "the lost letter" }, FOUND]);
});

test("an agent is nudged, then blocked, then stopped", async () => {
  const server = await startServer();
  const model = await startModel([lost]);
  const agent = new LoopGuard().protect(new Agent({ name: "researcher", model: "script", tools: toolset() }));
  await assert.rejects(run(agent, model), (error) => haltOf(error)?.halted === true);
  assert.equal(haltOf(new Error("another")), undefined);
  const seen = outputs(model);
  assert.doesNotMatch(seen[0] ?? "", /loop-guard/);
  assert.ok(seen.some((output) => output.includes("one letter, of 1911 [loop-guard] ")));
  assert.match(seen.at(-1) ?? "", /loop_blocked/);
  assert.ok(seen.length < 20);
  await flush();
  const events = await server.events("r");
  assertBlocked(events);
  assert.equal(events.at(-1)?.type, "run_failed");
  assert.match(String(events.at(-1)?.error), /Halted/);
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("an agent that makes progress is not changed", async () => {
  const steps: Step[] = [...Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]), "Done."];
  const seen = async (protect: (agent: Agent) => Agent) => {
    const model = await startModel(steps);
    const result = await run(protect(new Agent({ name: "researcher", model: "script", tools: toolset() })), model);
    return [result.finalOutput, outputs(model)];
  };
  const guard = new LoopGuard();
  assert.deepEqual(await seen((agent) => guard.protect(agent)), await seen((agent) => agent));
});

test("handoffs are recorded, their agents guarded, and tools guarded once", async () => {
  const server = await startServer();
  const shared = toolset();
  const finder = new Agent({ name: "Finder", model: "script", tools: shared });
  const desk = Agent.create({ name: "Desk", model: "script", tools: shared, handoffs: [finder] });
  new LoopGuard().protect(desk).handoffs.push(desk as never);
  const guard = new LoopGuard();
  guard.protect(desk);
  guard.protect(desk);
  assert.equal(shared[0]?.inputGuardrails?.filter((guardrail) => guardrail === guard.input).length, 1);
  desk.handoffs.pop();
  await run(desk, await startModel([[{ tool: "transfer_to_Finder", args: {} }], lost, "Found."]));
  await flush();
  const events = await server.events("r");
  assert.deepEqual(
    events.filter((event) => event.type === "handoff_started").map((event) => [event.agent, event.metadata]),
    [["Finder", { from: "Desk" }]],
  );
  assert.deepEqual(
    events.filter((event) => event.type === "tool_call_started").map((event) => [event.agent, event.tool]),
    [["Finder", "search"]],
  );
});

test("a trace within a run belongs to it, and runs without traces are guarded each by itself", async () => {
  const server = await startServer();
  const done = await startModel(["Done."]);
  await trace("outer", { id: "outer" }, () => run(new Agent({ name: "a", model: "script" }), done));
  await flush();
  assert.equal(
    types(await server.events("outer"))
      .filter((type) => type.startsWith("run_"))
      .join(),
    "run_started,run_completed",
  );
  setTracingDisabled(true);
  atEnd(() => setTracingDisabled(false));
  const guard = new LoopGuard();
  for (let n = 0; n < 3; n++) {
    const model = await startModel([lost, lost, "Done."]);
    await run(guard.protect(new Agent({ name: "a", model: "script", tools: toolset() })), model);
    assert.deepEqual(outputs(model), [FOUND, FOUND]);
  }
});

test("streams are recorded", async () => {
  const server = await startServer();
  setTraceProcessors([new Recorder()]);
  const model = await startModel([lost, "Found."]);
  const modelProvider = new OpenAIProvider({ apiKey: "none", baseURL: model.url, useResponses: true });
  const result = await withTrace(
    "streamed",
    () =>
      new Runner({ modelProvider })
        .run(new Agent({ name: "a", model: "script", tools: toolset() }), "Find it.", { stream: true })
        .then(async (stream) => {
          for await (const _event of stream);
          await stream.completed;
          return stream;
        }),
    { groupId: "streamed" },
  );
  assert.equal(result.finalOutput, "Found.");
  await flush();
  assert.deepEqual(
    types(await server.events("streamed")).filter((type) => type.startsWith("tool_call")),
    ["tool_call_started", "tool_call_completed"],
  );
});

test('without a guard the agent continues with onMissing "warn", and fails otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const model = await startModel([lost, "Done."]);
  const agent = () => new Agent({ name: "a", model: "script", tools: toolset() });
  assert.equal((await run(new LoopGuard({ onMissing: "warn" }).protect(agent()), model)).finalOutput, "Done.");
  await assert.rejects(run(new LoopGuard().protect(agent()), await startModel([lost, "Done."])), /no guard is available/);
});
