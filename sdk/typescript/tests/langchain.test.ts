import assert from "node:assert/strict";
import { test } from "node:test";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import { Command, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { z } from "zod";
import { LoopError, trace } from "../src/index.js";
import { UnloopCallbackHandler, unloopMiddleware } from "../src/langchain/index.js";
import { assertBlocked, assertModelCall, FOUND, lost, testWorks, types } from "./adapters.js";
import { alone, flush, ONE_CALL_THEN_ANSWER, startServer } from "./harness.js";
import { type Step as Answer, tools as archive, USAGE } from "./works.js";

alone();

type Step = Answer | ((messages: BaseMessage[]) => Answer);

/** Plays its steps, one after another, and the last one for ever. A text beside calls is in the first call's args as "say". */
class Script extends BaseChatModel {
  readonly asked: BaseMessage[][] = [];

  constructor(private readonly steps: Step[]) {
    super({});
  }

  override _llmType(): string {
    return "script";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const step = this.steps[Math.min(this.asked.length, this.steps.length - 1)] ?? "";
    this.asked.push(messages);
    const wanted = typeof step === "function" ? step(messages) : step;
    const calls = typeof wanted === "string" ? [] : wanted;
    const text = typeof wanted === "string" ? wanted : String(wanted[0]?.args.say ?? "");
    const message = new AIMessage({
      content: text,
      tool_calls: calls.map(({ tool: name, args: { say, ...args } }, n) => ({
        name,
        args,
        id: `call_${this.asked.length}_${n}`,
        type: "tool_call",
      })),
      response_metadata: { model_name: "script-1" },
    });
    Object.assign(message, {
      usage_metadata: {
        input_tokens: USAGE.input,
        output_tokens: USAGE.output,
        total_tokens: USAGE.input + USAGE.output,
        input_token_details: { cache_read: 4 },
        output_token_details: { reasoning: 2 },
      },
    });
    return { generations: [{ text, message }] };
  }
}

const toolset = Object.entries(archive).map(([name, { description, parameter, run }]) =>
  tool(async (args: Record<string, unknown>) => run(args), { name, description, schema: z.object({ [parameter]: z.any() }) }),
);

const ASK = { messages: [new HumanMessage("Find the lost letter.")] };
const deep = (more: object = {}) => ({ recursionLimit: 200, ...more });
const toolMessages = (result: { messages: BaseMessage[] }): ToolMessage[] =>
  result.messages.filter((message) => message instanceof ToolMessage);
const action = (message: BaseMessage): string =>
  (message.response_metadata.unloop as { action: string } | undefined)?.action ?? "allow";

testWorks("works", (id, steps) =>
  createAgent({ model: new Script(steps), tools: toolset, name: "researcher" }).invoke(
    ASK,
    deep({ callbacks: [new UnloopCallbackHandler()], configurable: { thread_id: id } }),
  ),
);

test("a graph is recorded with its user's message, token kinds, texts and agents", async () => {
  const server = await startServer();
  const agent = createAgent({ model: new Script([lost, "Found."]), tools: toolset, name: "researcher" });
  await agent.invoke(ASK, { callbacks: [new UnloopCallbackHandler()], configurable: { thread_id: "r" } });
  await flush();
  const events = await server.events("r");
  assert.deepEqual(types(events), ONE_CALL_THEN_ANSWER);
  assert.deepEqual([events[1]?.role, events[1]?.text, events[8]?.text], ["user", "Find the lost letter.", "Found."]);
  assertModelCall(events[3], "script-1", "researcher");
  assert.deepEqual([events[4]?.tool, events[4]?.input, events[5]?.output], ["search", { query: "the lost letter" }, FOUND]);
});

test("a model that repeats a search is nudged, then blocked, then ended with the reason", async () => {
  const server = await startServer();
  const model = new Script([lost]);
  const agent = createAgent({ model, tools: toolset, middleware: [unloopMiddleware()] });
  const result = await agent.invoke(ASK, deep({ callbacks: [new UnloopCallbackHandler()], configurable: { thread_id: "r" } }));
  assert.deepEqual(
    Object.keys(result).filter((key) => key.startsWith("_")),
    [],
  );
  const told = toolMessages(result);
  assert.equal(told[0]?.content, "one letter, of 1911");
  assert.match(String(told.find((message) => action(message) === "warn")?.content), /^one letter, of 1911 \[loop-guard\] /);
  assert.match(String(told.find((message) => message.status === "error")?.content), /"loop_blocked":true/);
  assert.match(String(result.messages.at(-1)?.content), /^\[loop-guard\] Halted: /);
  assert.ok(model.asked.length < 20);
  await flush();
  const events = await server.events("r");
  assertBlocked(events);
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("an agent that makes progress is not changed", async () => {
  const steps: Step[] = [...Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]), "Done."];
  const run = async (middleware: ReturnType<typeof unloopMiddleware>[]) => {
    const result = await createAgent({ model: new Script(steps), tools: toolset, middleware }).invoke(ASK, deep());
    return result.messages.map((message) => [message.type, message.content, message.response_metadata]);
  };
  assert.deepEqual(await run([unloopMiddleware()]), await run([]));
});

test("a failed tool returns to the model what it returns without the middleware, with a nudge", async () => {
  const steps: Step[] = [
    ...Array.from({ length: 6 }, (_, n): Step => [{ tool: "fetch", args: { url: `https://archive.example/${"abcdef"[n]}` } }]),
    "Done.",
  ];
  const run = async (middleware: ReturnType<typeof unloopMiddleware>[]) =>
    toolMessages(await createAgent({ model: new Script(steps), tools: toolset, middleware }).invoke(ASK, deep()));
  const [plain, guarded] = [await run([]), await run([unloopMiddleware()])];
  assert.deepEqual([guarded[0]?.content, guarded[0]?.status], [plain[0]?.content, plain[0]?.status]);
  const warned = guarded.find((message) => action(message) === "warn");
  assert.match(String(warned?.content), /the host does not answer \[loop-guard\] /);
});

test("an agent that repeats its message is nudged once, and ended", async () => {
  const say = "I will look into the next box of letters.";
  const model = new Script(
    Array.from({ length: 12 }, (_, k): Step => [{ tool: "search", args: { query: `the lost letter ${k}`, say } }]),
  );
  const result = await createAgent({ model, tools: toolset, middleware: [unloopMiddleware()] }).invoke(ASK, deep());
  assert.match(String(model.asked[4]?.at(-1)?.content), /^\[loop-guard\] You may be going round in circles: /);
  assert.equal(result.messages.filter((message) => message instanceof HumanMessage).length, 1);
  assert.match(String(result.messages.at(-1)?.content), /^\[loop-guard\] Halted: [\s\S]*What I had so far: I will look/);
});

test('with onHalt "raise" a halt throws LoopError', async () => {
  const agent = createAgent({ model: new Script([lost]), tools: toolset, middleware: [unloopMiddleware({ onHalt: "raise" })] });
  await assert.rejects(agent.invoke(ASK, deep()), (error) => {
    for (let at = error; at instanceof Error; at = at.cause) if (at instanceof LoopError) return at.decision.halted;
    return false;
  });
  assert.throws(() => unloopMiddleware({ onHalt: "throw" as "raise" }), /invalid onHalt "throw": want "end" or "raise"/);
});

test("a thread is one run, and a person starts a turn in it", async () => {
  const agent = createAgent({
    model: new Script([lost]),
    tools: toolset,
    middleware: [unloopMiddleware()],
    checkpointer: new MemorySaver(),
  });
  const first = toolMessages(await agent.invoke(ASK, deep({ configurable: { thread_id: "a" } }))).map(action);
  const again = { messages: [new HumanMessage("Look again, please.")] };
  const second = toolMessages(await agent.invoke(again, deep({ configurable: { thread_id: "a" } })))
    .map(action)
    .slice(first.length);
  assert.equal(second[0], "warn"); // a person let it go on, and once more it found the same
  const other = toolMessages(await agent.invoke(ASK, deep({ configurable: { thread_id: "b" } }))).map(action);
  assert.deepEqual(other, first);
});

test("streams are recorded and guarded", async () => {
  const server = await startServer();
  const agent = createAgent({ model: new Script([lost]), tools: toolset, middleware: [unloopMiddleware()] });
  const config = deep({
    callbacks: [new UnloopCallbackHandler()],
    configurable: { thread_id: "r" },
    streamMode: "values" as const,
  });
  let last: BaseMessage | undefined;
  for await (const state of await agent.stream(ASK, config))
    last = (state as unknown as { messages: BaseMessage[] }).messages.at(-1);
  assert.match(String(last?.content), /^\[loop-guard\] Halted: /);
  await flush();
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("handoffs by commands and by tools are handoffs, and bounce", async () => {
  const server = await startServer();
  let left = 7;
  const agentNode = (to: string) => async () => (left-- > 0 ? new Command({ goto: to }) : new Command({ goto: "__end__" }));
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("writer", agentNode("critic"), { ends: ["critic", "__end__"] })
    .addNode("critic", agentNode("writer"), { ends: ["writer", "__end__"] })
    .addEdge(START, "writer")
    .compile({ name: "pair" });
  await graph.invoke(ASK, deep({ callbacks: [new UnloopCallbackHandler()], configurable: { thread_id: "r" } }));
  await flush();
  const handoffs = (await server.events("r")).filter((event) => event.type === "handoff_started").map((event) => event.agent);
  assert.deepEqual(handoffs, ["critic", "writer", "critic", "writer", "critic", "writer", "critic"]);
  assert.deepEqual(await server.rules("r"), ["idle_handoffs"]);
});

test("a graph within a trace belongs to its run, and a failure ends the run as failed", async () => {
  const server = await startServer();
  const handler = new UnloopCallbackHandler();
  await trace("outer", { id: "outer" }, async () => {
    await createAgent({ model: new Script(["Done."]), tools: [] }).invoke(ASK, { callbacks: [handler] });
  });
  const failing = new StateGraph(MessagesAnnotation)
    .addNode("fails", async () => {
      throw new RangeError("no such page");
    })
    .addEdge(START, "fails")
    .compile();
  await assert.rejects(failing.invoke(ASK, { callbacks: [handler], configurable: { thread_id: "failing" } }), RangeError);
  await flush();
  assert.equal(
    types(await server.events("outer"))
      .filter((type) => type.startsWith("run_"))
      .join(),
    "run_started,run_completed",
  );
  const last = (await server.events("failing")).at(-1);
  assert.deepEqual([last?.type, last?.error], ["run_failed", "RangeError: no such page"]);
});

test('without a guard the agent continues with onMissing "warn", and fails otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const run = (middleware: ReturnType<typeof unloopMiddleware>) =>
    createAgent({ model: new Script(["Done."]), tools: toolset, middleware: [middleware] }).invoke(ASK);
  const open = await run(unloopMiddleware({ guard: { onMissing: "warn" } }));
  assert.equal(open.messages.at(-1)?.content, "Done.");
  await assert.rejects(run(unloopMiddleware()), /no guard is available/);
});
