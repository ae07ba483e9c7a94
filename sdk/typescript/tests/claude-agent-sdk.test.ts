import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "@anthropic-ai/claude-agent-sdk";
import { type ClaudeOptions, withUnloop } from "../src/claude-agent-sdk.js";
import { LoopError, trace } from "../src/index.js";
import { assertBlocked, FOUND, lost, testWorks, types } from "./adapters.js";
import { ScriptedClaude } from "./claude.js";
import { alone, flush, startServer } from "./harness.js";
import { tools as archive, type Step } from "./works.js";

alone();

/** Runs a query against a script, and returns its last message. */
async function ask(claude: ScriptedClaude, options: ClaudeOptions, more: sdk.Options = {}): Promise<sdk.SDKMessage | undefined> {
  const { query } = withUnloop(sdk, options);
  let last: sdk.SDKMessage | undefined;
  const prompt = "Find the lost letter.";
  for await (last of query({
    prompt,
    options: { ...more, pathToClaudeCodeExecutable: "claude", spawnClaudeCodeProcess: () => claude },
  }));
  return last;
}

const resultOf = (message: sdk.SDKMessage | undefined): string =>
  message?.type === "result" && message.subtype === "success" ? message.result : "";

testWorks("works", (id, steps) => ask(new ScriptedClaude(steps), { id, guard: false }));

test("a query that loops is nudged, then blocked, then ended with the reason", async () => {
  const server = await startServer();
  const claude = new ScriptedClaude([lost]);
  const result = resultOf(await ask(claude, { id: "r", name: "archivist" }));
  assert.match(result, /^\[loop-guard\] Halted: /);
  assert.deepEqual([claude.seen[0], claude.seen[1]], [FOUND, FOUND]);
  assert.match(claude.seen[3] ?? "", /^\[loop-guard\] You may be going round in circles/);
  assert.match(claude.seen.at(-1) ?? "", /^\[loop-guard\] Halted: /);
  assert.ok(claude.seen.length < 30, `${claude.seen.length} results`);
  await flush();
  const events = await server.events("r");
  assertBlocked(events);
  assert.equal(events.at(-1)?.type, "run_failed");
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("a query that makes progress is not changed", async () => {
  const pages = Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]);
  const claude = new ScriptedClaude([...pages, "Done."]);
  assert.equal(resultOf(await ask(claude, { record: false })), "Done.");
  assert.deepEqual(
    claude.seen,
    Array.from({ length: 12 }, (_, page) => archive.read?.run({ page })),
  );
});

test("a query is recorded with the user's message, token kinds and texts", async () => {
  const server = await startServer();
  await ask(new ScriptedClaude([lost, "Found."]), { id: "r", name: "archivist" });
  await flush();
  const events = await server.events("r");
  assert.deepEqual(types(events).sort(), [
    "llm_call_completed",
    "llm_call_completed",
    "llm_call_started",
    "llm_call_started",
    "message",
    "message",
    "run_completed",
    "run_started",
    "tool_call_completed",
    "tool_call_started",
  ]);
  const texts = events.filter((event) => event.type === "message").map((event) => [event.role, event.text]);
  assert.deepEqual(texts, [
    ["user", "Find the lost letter."],
    ["assistant", "Found."],
  ]);
  const [first, last] = events.filter((event) => event.type === "llm_call_completed");
  assert.deepEqual([first?.model, first?.agent], ["script", "archivist"]);
  assert.deepEqual(first?.usage, { input_tokens: 10, output_tokens: 1, cached_input_tokens: 4 });
  assert.deepEqual(
    last?.usage,
    { input_tokens: 10, output_tokens: 9, cached_input_tokens: 4 },
    "the last has what the others lack",
  );
});

test('with onHalt "raise" a halt rejects with LoopError', async () => {
  const running = ask(new ScriptedClaude([lost]), { record: false, onHalt: "raise" });
  await assert.rejects(running, (error) => error instanceof LoopError && error.decision.halted);
  assert.throws(() => withUnloop(sdk, { onHalt: "throw" as "raise" }), /invalid onHalt "throw": want "end" or "raise"/);
});

test("a nudge about a failed tool, and about a text beside calls, is additional context", async () => {
  const failing = new ScriptedClaude([...Array(5).fill([{ tool: "fetch", args: { url: "https://archive.example" } }]), "Done."]);
  await ask(failing, { record: false });
  assert.ok(failing.seen.some((text) => text.startsWith("[loop-guard] ")));
  const say = "I will look into the next box of letters.";
  const repeating = new ScriptedClaude([[{ tool: "search", args: { query: "the lost letter", say } }]]);
  await ask(repeating, { record: false });
  assert.ok(repeating.seen.some((text) => /^\[loop-guard\] .* repeats what it said before/s.test(text)));
});

test("a call without a permission is a failed call, hooks of the caller run, and queries within a trace are one run", async () => {
  const server = await startServer();
  const called: string[] = [];
  const hooks = { PreToolUse: [{ hooks: [async () => ({ systemMessage: String(called.push("own")) })] }] };
  await trace("chat", { id: "chat" }, async () => {
    await ask(new ScriptedClaude([[{ tool: "forbidden", args: {} }], "Done."]), {}, { hooks });
    await ask(new ScriptedClaude(["Done."]), {});
  });
  assert.deepEqual(called, ["own"]);
  await flush();
  const events = await server.events("chat");
  assert.equal(
    types(events)
      .filter((type) => type.startsWith("run_"))
      .join(),
    "run_started,run_completed",
  );
  assert.equal(events.find((event) => event.type === "tool_call_failed")?.error, "permission denied");
});

test("a consumer that stops early ends the process and the run", async () => {
  const server = await startServer();
  const claude = new ScriptedClaude([lost]);
  const { query } = withUnloop(sdk, { id: "r", guard: false });
  const running = query({
    prompt: "Find it.",
    options: { pathToClaudeCodeExecutable: "claude", spawnClaudeCodeProcess: () => claude },
  });
  for await (const message of running) if (message.type === "assistant") break;
  assert.notEqual(claude.exitCode, null);
  await flush();
  assert.equal((await server.events("r")).at(-1)?.type, "run_completed");
});

test('without a guard a query continues with onMissing "warn", and fails otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const open = new ScriptedClaude([lost, "Done."]);
  assert.equal(resultOf(await ask(open, { record: false, guard: { onMissing: "warn" } })), "Done.");
  const closed = new ScriptedClaude([lost, "Done."]);
  await assert.rejects(ask(closed, { record: false }), { name: "GuardUnavailable" });
  assert.ok(!closed.seen.includes(FOUND));
});
