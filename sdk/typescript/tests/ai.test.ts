import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "ai";
import { jsonSchema, stepCountIs, ToolLoopAgent, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { AgentRun, withUnloop } from "../src/ai.js";
import { LoopError, trace } from "../src/index.js";
import { assertBlocked, assertModelCall, lost, testWorks, types } from "./adapters.js";
import { script } from "./aimodel.js";
import { alone, flush, ONE_CALL_THEN_ANSWER, startServer } from "./harness.js";
import { tools as archive, type Step } from "./works.js";

alone();

// biome-ignore lint/suspicious/noExplicitAny: the tools take any object
const inputSchema = jsonSchema<any>({ type: "object", additionalProperties: true });

const toolset: sdk.ToolSet = Object.fromEntries(
  Object.entries(archive).map(([name, { description, run }]) => [
    name,
    tool({ description, inputSchema, execute: async (args) => run(args) }),
  ]),
);

/** Streams and returns the text. */
async function streamed(ai: Pick<typeof sdk, "streamText">, args: Parameters<typeof sdk.streamText>[0]): Promise<string> {
  const result = ai.streamText(args);
  let text = "";
  for await (const part of result.textStream) text += part;
  return text;
}

const works = { tools: toolset, prompt: "Find the lost letter.", stopWhen: stepCountIs(100) };
testWorks("works that are generated", (id, steps) =>
  withUnloop(sdk, { id, guard: false }).generateText({ ...works, model: script(steps) }),
);
testWorks("works that are streamed", (id, steps) =>
  streamed(withUnloop(sdk, { id, guard: false }), { ...works, model: script(steps) }),
);

for (const how of ["generateText", "streamText"] as const) {
  test(`an agent of ${how} is nudged, then blocked, then ended with the reason`, async () => {
    const server = await startServer();
    const ai = withUnloop(sdk, { id: "r", name: "archivist" });
    const model = script([lost]);
    const args = { model, tools: toolset, prompt: "Find the lost letter.", stopWhen: stepCountIs(50) };
    const text = how === "generateText" ? (await ai.generateText(args)).text : await streamed(ai, args);
    assert.match(text, /^\[loop-guard\] /);
    const requests = how === "generateText" ? model.doGenerateCalls : model.doStreamCalls;
    assert.ok(requests.length < 20, `${requests.length} requests`);
    const results = requests.at(-1)?.prompt.flatMap((message) => (message.role === "tool" ? message.content : []));
    const seen = results?.map((result) => JSON.stringify(result)) ?? [];
    assert.doesNotMatch(seen[0] ?? "", /loop-guard/);
    assert.ok(seen.some((result) => result.includes("one letter, of 1911 [loop-guard] ")));
    assert.match(seen.at(-1) ?? "", /"loop_blocked":true/);
    await flush();
    const events = await server.events("r");
    assertBlocked(events);
    assert.equal(events.at(-1)?.type, "run_failed");
    assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
  });
}

test("an agent that makes progress is not changed", async () => {
  const pages = Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]);
  const args = { tools: toolset, prompt: "Read.", stopWhen: stepCountIs(50) };
  const plain = await sdk.generateText({ ...args, model: script([...pages, "Done."]) });
  const guarded = await withUnloop(sdk, { record: false }).generateText({ ...args, model: script([...pages, "Done."]) });
  assert.deepEqual(
    guarded.steps.map((step) => step.content),
    plain.steps.map((step) => step.content),
  );
});

test("model calls are recorded with token kinds, texts and the user's message", async () => {
  const server = await startServer();
  await withUnloop(sdk, { id: "r", name: "archivist" }).generateText({
    model: script([lost, "Found."]),
    tools: toolset,
    prompt: "Find it.",
    stopWhen: stepCountIs(5),
  });
  await flush();
  const events = await server.events("r");
  assert.deepEqual(types(events), ONE_CALL_THEN_ANSWER);
  assert.deepEqual([events[1]?.role, events[1]?.text, events[8]?.text], ["user", "Find it.", "Found."]);
  assertModelCall(events[3], "script", "archivist");
});

test('with onHalt "raise" a halt rejects with LoopError', async () => {
  const ai = withUnloop(sdk, { record: false, onHalt: "raise" });
  const running = ai.generateText({ model: script([lost]), tools: toolset, prompt: "Find it.", stopWhen: stepCountIs(50) });
  await assert.rejects(running, (error) => error instanceof LoopError && error.decision.halted);
  assert.throws(() => new AgentRun({ onHalt: "throw" as "raise" }), /invalid onHalt "throw": want "end" or "raise"/);
});

test("a model that repeats its text gets the nudge with its next request, and not in later ones", async () => {
  const say = "I will look into the next box of letters.";
  const model = script(
    Array.from({ length: 12 }, (_, k): Step => [{ tool: "search", args: { query: `the lost letter ${k}`, say } }]),
  );
  await withUnloop(sdk, { record: false }).generateText({ model, tools: toolset, prompt: "Find it.", stopWhen: stepCountIs(50) });
  const users = model.doGenerateCalls.map(({ prompt }) =>
    prompt.filter((message) => message.role === "user").map((message) => JSON.stringify(message.content)),
  );
  assert.match(users[4]?.[1] ?? "", /\[loop-guard\] You may be going round in circles/);
  assert.ok(users.every((messages) => messages.length <= 2));
  assert.equal(users[3]?.length, 1);
});

test("stopWhen, prepareStep and callbacks of the caller keep working", async () => {
  const called: string[] = [];
  const ai = withUnloop(sdk, { record: false });
  const args = {
    tools: toolset,
    prompt: "Find it.",
    stopWhen: stepCountIs(2),
    prepareStep: () => {
      called.push("prepareStep");
      return {};
    },
    onStepFinish: () => void called.push("onStepFinish"),
    onFinish: () => void called.push("onFinish"),
  };
  await ai.generateText({ ...args, model: script([lost]) });
  await streamed(ai, { ...args, model: script([lost]) });
  const once = ["prepareStep", "onStepFinish", "prepareStep", "onStepFinish", "onFinish"];
  assert.deepEqual(called, [...once, ...once]);
});

test("a ToolLoopAgent is guarded by prepareCall, and calls within a trace are one run", async () => {
  const server = await startServer();
  const model = script([lost]);
  const agent = new ToolLoopAgent({
    model,
    tools: toolset,
    stopWhen: stepCountIs(4),
    prepareCall: (call) => new AgentRun({ name: "archivist" }).call(call),
  });
  await trace("chat", { id: "chat" }, async () => {
    await agent.generate({ prompt: "Find it." });
    await agent.generate({ prompt: "Find it again." });
  });
  await flush();
  const events = await server.events("chat");
  assert.equal(types(events).filter((type) => type === "run_started").length, 1);
  assert.equal(events.at(-1)?.type, "run_completed");
  assert.deepEqual(
    events.filter((event) => event.role === "user").map((event) => event.text),
    ["Find it.", "Find it again."],
  );
});

test("tools that fail, that stream and that run elsewhere", async () => {
  const server = await startServer();
  const fails = async () => {
    throw new RangeError("no such page");
  };
  const streams = async function* () {
    yield { progress: 1 };
    yield { progress: 2 };
  };
  const tools = {
    fails: { inputSchema, execute: fails },
    streams: { inputSchema, execute: streams },
    elsewhere: { inputSchema },
  } as unknown as sdk.ToolSet;
  const model = script([
    [
      { tool: "fails", args: {} },
      { tool: "streams", args: {} },
    ],
    [{ tool: "elsewhere", args: {} }],
  ]);
  const result = await withUnloop(sdk, { id: "r" }).generateText({ model, tools, prompt: "Go.", stopWhen: stepCountIs(3) });
  const [failed, answered] =
    result.steps[0]?.content.filter((part) => part.type === "tool-error" || part.type === "tool-result") ?? [];
  assert.equal(failed?.type === "tool-error" && String(failed.error), "RangeError: no such page");
  assert.deepEqual(answered?.type === "tool-result" && answered.output, { progress: 2 });
  assert.equal(result.toolCalls[0]?.toolName, "elsewhere");
  await flush();
  const outcomes = (await server.events("r")).filter((event) => /^tool_call_(completed|failed)$/.test(event.type));
  assert.deepEqual(
    outcomes.map((event) => event.output ?? event.error).sort(),
    ["RangeError: no such page", { progress: 2 }].sort(),
  );
});

test("a tool that converts its results gets only its own, and the model the nudge with its next request", async () => {
  const find = tool({
    inputSchema,
    execute: async () => ["one letter, of 1911"],
    toModelOutput: ({ output }) => ({ type: "text", value: output.map((line) => line.toUpperCase()).join() }),
  });
  const model = script([[{ tool: "find", args: {} }]]);
  const { text } = await withUnloop(sdk, { record: false }).generateText({ ...works, model, tools: { find } });
  assert.match(text, /^\[loop-guard\] Halted: /);
  const seen = JSON.stringify(model.doGenerateCalls.at(-1)?.prompt);
  assert.match(seen, /ONE LETTER, OF 1911/);
  assert.match(seen, /loop_blocked/);
  assert.ok(model.doGenerateCalls.some(({ prompt }) => JSON.stringify(prompt.at(-1)).includes("[loop-guard] You may be going")));
});

test("a model that fails ends the run as failed", async () => {
  const server = await startServer();
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      throw new Error("no credit");
    },
  });
  await assert.rejects(
    withUnloop(sdk, { id: "r", guard: false }).generateText({ model, prompt: "Go.", maxRetries: 0 }),
    /no credit/,
  );
  await flush();
  assert.deepEqual(types(await server.events("r")), [
    "run_started",
    "message",
    "llm_call_started",
    "llm_call_failed",
    "run_failed",
  ]);
});

test('without a guard the agent continues with onMissing "warn", and fails otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const args = { tools: toolset, prompt: "Go.", stopWhen: stepCountIs(3) };
  const open = withUnloop(sdk, { guard: { onMissing: "warn" }, record: false });
  assert.equal((await open.generateText({ ...args, model: script(["Done."]) })).text, "Done.");
  await assert.rejects(withUnloop(sdk, { record: false }).generateText({ ...args, model: script(["Done."]) }), {
    name: "GuardUnavailable",
  });
});
