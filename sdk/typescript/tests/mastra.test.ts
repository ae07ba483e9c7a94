import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import type { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";
import { LoopError, trace } from "../src/index.js";
import { type MastraOptions, withUnloop } from "../src/mastra.js";
import { assertBlocked, assertModelCall, lost, testWorks, types } from "./adapters.js";
import { script } from "./aimodel.js";
import { alone, flush, ONE_CALL_THEN_ANSWER, startServer } from "./harness.js";
import { tools as archive, type Step } from "./works.js";

alone();

const tools = Object.fromEntries(
  Object.entries(archive).map(([id, { description, parameter, run }]) => {
    const inputSchema = z.object({ [parameter]: z.union([z.string(), z.number()]) });
    return [id, createTool({ id, description, inputSchema, execute: async (args) => run(args as Record<string, unknown>) })];
  }),
);

function agentOf(model: MockLanguageModelV3, options: MastraOptions = {}): Agent {
  return withUnloop(new Agent({ id: "archivist", name: "archivist", instructions: "Find.", model, tools, maxRetries: 0 }), options);
}

const asked = "Find the lost letter.";
const steps = { maxSteps: 100 };

/** Streams and returns the text. */
async function streamed(agent: Agent): Promise<string> {
  const output = await agent.stream(asked, steps);
  let text = "";
  for await (const part of output.textStream) text += part;
  return text;
}

testWorks("works that are generated", (id, played) => agentOf(script(played), { id, guard: false }).generate(asked, steps));
testWorks("works that are streamed", (id, played) => streamed(agentOf(script(played), { id, guard: false })));

for (const how of ["generate", "stream"] as const) {
  test(`an agent that loops is nudged, then blocked, then ended with the reason, by ${how}()`, async () => {
    const server = await startServer();
    const model = script([lost]);
    const agent = agentOf(model, { id: "r" });
    const text = how === "generate" ? (await agent.generate(asked, steps)).text : await streamed(agent);
    assert.match(text, /^\[loop-guard\] Halted: /);
    const requests = how === "generate" ? model.doGenerateCalls : model.doStreamCalls;
    assert.ok(requests.length > 0 && requests.length < 20, `${requests.length} requests`);
    const results = requests.at(-1)?.prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
    const seen = results?.map((result) => JSON.stringify(result)) ?? [];
    assert.doesNotMatch(seen[0] ?? "", /loop-guard/);
    assert.ok(seen.some((result) => result.includes("one letter, of 1911 [loop-guard] ")));
    assert.match(seen.at(-1) ?? "", /loop_blocked/);
    await flush();
    const events = await server.events("r");
    assertBlocked(events);
    assert.equal(events.at(-1)?.type, "run_failed");
    assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
  });
}

test("an agent that makes progress is not changed", async () => {
  const pages = Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]);
  const results = async (guard: MastraOptions["guard"]) => {
    const model = script([...pages, "Done."]);
    const { text } = await agentOf(model, { record: false, guard: guard ?? {} }).generate(asked, steps);
    const prompt = model.doGenerateCalls.at(-1)?.prompt ?? [];
    return [text, prompt.flatMap((message) => (message.role === "tool" ? message.content.map((part) => Object(part).output) : []))];
  };
  assert.deepEqual(await results({}), await results(false));
});

test("model calls are recorded with token kinds, texts and the user's message, under the id of the thread", async () => {
  const server = await startServer();
  await agentOf(script([lost, "Found."])).generate(asked, { memory: { thread: "thread-7", resource: "me" } });
  await flush();
  const events = await server.events("thread-7");
  assert.deepEqual(types(events), ONE_CALL_THEN_ANSWER);
  assert.deepEqual([events[1]?.role, events[1]?.text, events[8]?.text], ["user", asked, "Found."]);
  assertModelCall(events[3], "script", "archivist");
});

test('with onHalt "raise" a halt rejects with LoopError', async () => {
  const agent = agentOf(script([lost]), { record: false, onHalt: "raise" });
  await assert.rejects(agent.generate(asked, steps), (error) => error instanceof LoopError && error.decision.halted);
  assert.throws(() => agentOf(script([]), { onHalt: "throw" as "raise" }), /invalid onHalt "throw": want "end" or "raise"/);
});

test("a text that repeats beside calls is nudged with the next request, and not in later ones", async () => {
  const say = "I will look into the next box of letters.";
  const model = script(
    Array.from({ length: 12 }, (_, k): Step => [{ tool: "search", args: { query: `the lost letter ${k}`, say } }]),
  );
  await agentOf(model, { record: false }).generate(asked, steps);
  const users = model.doGenerateCalls.map(({ prompt }) => prompt.filter((message) => message.role === "user"));
  assert.equal(users[3]?.length, 1);
  assert.match(JSON.stringify(users[4]?.[1]?.content), /\[loop-guard\] You may be going round in circles/);
  assert.ok(users.every((messages) => messages.length <= 2));
});

test("processors, hooks and callbacks of the caller keep working, and calls within a trace are one run", async () => {
  const server = await startServer();
  const called: string[] = [];
  const processor = { id: "own", processInputStep: () => void called.push("processor") };
  const hooks = { beforeToolCall: () => void called.push("hook") };
  const model = script([lost, "Done."]);
  const own = new Agent({ id: "a", name: "a", instructions: "Find.", model, tools, inputProcessors: [processor], hooks });
  const agent = withUnloop(own);
  assert.ok(agent instanceof Agent);
  await trace("chat", { id: "chat" }, async () => {
    const output = await agent.stream(asked, { onFinish: () => void called.push("onFinish") });
    await output.consumeStream();
    await agent.generate(asked);
  });
  assert.deepEqual(called, ["processor", "hook", "processor", "onFinish", "processor"]);
  await flush();
  const events = await server.events("chat");
  assert.equal(
    types(events)
      .filter((type) => type.startsWith("run_"))
      .join(),
    "run_started,run_completed",
  );
});

test("a tool that converts its results gets only its own, and the model the nudge with its next request", async () => {
  const find = createTool({
    id: "find",
    description: "Finds.",
    inputSchema: z.object({}),
    execute: async () => ["one letter, of 1911"],
    toModelOutput: (output) => ({ type: "text", value: (output as string[]).map((line) => line.toUpperCase()).join() }),
  });
  const model = script([[{ tool: "find", args: {} }]]);
  const agent = new Agent({ id: "archivist", name: "archivist", instructions: "Find.", model, tools: { find }, maxRetries: 0 });
  const { text } = await withUnloop(agent, { record: false }).generate(asked, steps);
  assert.match(text, /^\[loop-guard\] Halted: /);
  const seen = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
  assert.match(seen, /ONE LETTER, OF 1911/);
  assert.match(seen, /loop_blocked/);
  assert.ok(model.doGenerateCalls.some(({ prompt }) => JSON.stringify(prompt.at(-1)).includes("[loop-guard] You may be going")));
});

test("a tool that fails is recorded as failed, and a model that fails ends the run as failed", async () => {
  const server = await startServer();
  await agentOf(script([[{ tool: "fetch", args: { url: "https://archive.example" } }], "Done."]), { id: "tool" }).generate(
    asked,
    steps,
  );
  const broken = script([]);
  broken.doGenerate = async () => {
    throw new Error("no credit");
  };
  await assert.rejects(agentOf(broken, { id: "model", guard: false }).generate(asked), /no credit/);
  await flush();
  const failed = (await server.events("tool")).find((event) => event.type === "tool_call_failed");
  assert.match(String(failed?.error), /the host does not answer/);
  assert.deepEqual(types(await server.events("model")), [
    "run_started",
    "message",
    "llm_call_started",
    "llm_call_failed",
    "run_failed",
  ]);
});

test('without a guard an agent continues with onMissing "warn", and fails otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const open = agentOf(script(["Done."]), { record: false, guard: { onMissing: "warn" } });
  assert.equal((await open.generate(asked)).text, "Done.");
  await assert.rejects(agentOf(script(["Done."]), { record: false }).generate(asked), { name: "GuardUnavailable" });
});
