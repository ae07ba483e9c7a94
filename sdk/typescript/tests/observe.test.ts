import assert from "node:assert/strict";
import { test } from "node:test";
import { configure, currentRun, event, observe, stats, trace } from "../src/index.js";
import { Run } from "../src/run.js";
import { alone, flush, type Recorded, said, startServer } from "./harness.js";

alone();

const types = (events: Recorded[]): string[] => events.map((recorded) => recorded.type);

test("a run with calls of tools, models and agents is on the server, and its loop is found", async () => {
  const server = await startServer();
  const search = observe(async (_args: { query: string }) => ["hit"], { name: "search" });
  const ask = observe((_prompt: string) => "answer", { kind: "llm", name: "small-model" });
  const writer = observe(
    async (question: string) => {
      ask(question);
      for (let n = 0; n < 5; n++) await search({ query: "loops" });
      return "done";
    },
    { kind: "agent", name: "writer" },
  );
  const answer = await trace("find", { id: "r", project: "research", metadata: { a: 1 } }, async (run) => {
    event("message", { role: "user", text: "Find it." });
    assert.equal(currentRun(), run);
    return await writer("who");
  });
  assert.equal(answer, "done");
  assert.equal(await flush(), true);
  const events = await server.events("r");
  assert.deepEqual(types(events).slice(0, 7), [
    "run_started",
    "message",
    "agent_started",
    "llm_call_started",
    "llm_call_completed",
    "tool_call_started",
    "tool_call_completed",
  ]);
  assert.equal(types(events).at(-1), "run_completed");
  const [started, completed] = events.slice(5, 7) as [Recorded, Recorded];
  assert.deepEqual([started.tool, started.agent, started.input], ["search", "writer", { query: "loops" }]);
  assert.deepEqual([completed.output, completed.call_id], [["hit"], started.call_id]);
  assert.equal(events[3]?.model, "small-model");
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
  assert.equal((await server.get("/api/runs/r")).project, "research");
});

test("runs side by side keep their events apart", async () => {
  const server = await startServer();
  const step = observe(async (n: number) => n, { name: "step" });
  await Promise.all(
    ["a", "b", "c"].map((id) =>
      trace("side", { id }, async () => {
        for (let n = 0; n < 3; n++) await step(n);
      }),
    ),
  );
  await flush();
  for (const id of ["a", "b", "c"])
    assert.equal(types(await server.events(id)).filter((type) => type === "tool_call_completed").length, 3);
});

test("errors end calls and runs as failed, and propagate", async () => {
  const server = await startServer();
  const fails = observe(
    () => {
      throw new TypeError("no such page");
    },
    { name: "read" },
  );
  await assert.rejects(
    trace("r", { id: "async" }, async () => fails()),
    TypeError,
  );
  assert.throws(() => trace("r", { id: "sync" }, () => fails()), TypeError);
  await flush();
  for (const id of ["async", "sync"]) {
    const events = await server.events(id);
    assert.deepEqual(types(events), ["run_started", "tool_call_started", "tool_call_failed", "run_failed"]);
    assert.equal(events[2]?.error, "TypeError: no such page");
  }
});

test("an async generator is recorded when it ends, also when its caller leaves early", async () => {
  const server = await startServer();
  const pages = observe(
    async function* (to: number) {
      for (let n = 0; n < to; n++) {
        event("message", { text: `${n}` });
        yield n;
      }
    },
    { name: "pages" },
  );
  await trace("r", { id: "r" }, async () => {
    const all: number[] = [];
    for await (const page of pages(3)) all.push(page);
    assert.deepEqual(all, [0, 1, 2]);
    for await (const page of pages(9)) if (page === 1) break;
  });
  const whole = trace("r", { id: "generator" }, async function* () {
    yield currentRun()?.id;
  });
  for await (const id of whole) assert.equal(id, "generator");
  await flush();
  const outputs = (await server.events("r")).filter((e) => e.type === "tool_call_completed").map((e) => e.output);
  assert.deepEqual(outputs, [
    [0, 1, 2],
    [0, 1],
  ]);
  assert.deepEqual(types(await server.events("generator")), ["run_started", "run_completed"]);
});

test("a trace within a trace is a run of its own, or the same with the same id", async () => {
  const server = await startServer();
  trace("outer", { id: "outer" }, () => {
    trace("inner", { id: "inner" }, () => event("message", { text: "a" }));
    trace("same", { id: "outer" }, () => event("message", { text: "b" }));
  });
  await flush();
  assert.deepEqual(types(await server.events("outer")), ["run_started", "message", "run_completed"]);
  assert.deepEqual((await server.events("inner"))[0]?.metadata, { parent_run_id: "outer" });
});

test("an agent outside of a run is a run, and other events are ignored and counted", async () => {
  const server = await startServer();
  await observe(async () => 1, { kind: "agent", name: "alone" })();
  observe(() => 1)();
  assert.equal(event("message", { text: "lost" }), "");
  await flush();
  const [run] = await server.get("/api/runs");
  assert.deepEqual(types(await server.events(run.id)), ["run_started", "agent_started", "agent_completed", "run_completed"]);
  assert.equal(stats().ignored, 2);
  assert.equal(said.length, 1);
});

test("token kinds, costs and names arrive as they were given", async () => {
  const server = await startServer();
  const usage = { input_tokens: 10, output_tokens: 5, cached_input_tokens: 4, reasoning_tokens: 2 };
  const run = Run.begin("r", { id: "r" });
  const parent = run.event("llm_call_started", { model: "m", event_id: "mine" });
  run.event("llm_call_completed", { model: "m", tokens: 15, usage, cost: 0.5, latency_ms: 12.5, parent_event_id: parent });
  run.end({ status: "cancelled" });
  run.end();
  await flush();
  const events = await server.events("r");
  assert.equal(events[1]?.id ?? events[1]?.event_id, "mine");
  const { model, tokens, usage: seen, cost, latency_ms, parent_event_id } = events[2] as Recorded;
  assert.deepEqual(
    { model, tokens, cost, latency_ms, parent_event_id },
    { model: "m", tokens: 15, cost: 0.5, latency_ms: 12.5, parent_event_id: "mine" },
  );
  assert.deepEqual(seen, usage);
  assert.equal(events.length, 4);
});

test("what is not captured is sent as digests, and the loop is still found", async () => {
  const server = await startServer();
  configure({ captureInputs: false, captureOutputs: false });
  const search = observe(async (_query: string) => "secret result", { name: "search" });
  await trace("r", { id: "r" }, async () => {
    event("message", { role: "user", text: "secret question" });
    for (let n = 0; n < 5; n++) await search("secret query");
  });
  await flush();
  assert.doesNotMatch(JSON.stringify(await server.events("r")), /secret/);
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("an event that cannot be recorded does not stop the agent", async () => {
  await startServer();
  const run = Run.begin("r");
  const hostile = {
    get tool(): string {
      throw new RangeError("no");
    },
  };
  assert.equal(run.event("tool_call_started", hostile), "");
  assert.deepEqual(said, ["event not recorded: RangeError"]);
  assert.throws(() => observe(() => 1, { kind: "other" as "tool" }), /invalid kind "other": want one of tool, llm, agent, chain/);
});

test("a disabled package records nothing", async () => {
  configure({ enabled: false });
  assert.equal(
    trace("r", () => observe(() => 7)()),
    7,
  );
  assert.equal(stats().given, 0);
});
