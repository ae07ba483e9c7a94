import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Hooks, PluginInput } from "@opencode-ai/plugin";
import plugin, { type OpenCodeOptions } from "../src/opencode.js";
import { assertBlocked, assertModelCall, lost, testWorks, types } from "./adapters.js";
import { alone, atEnd, flush, root, startServer, temporary } from "./harness.js";
import { tools as archive, type Step, USAGE, type WantedCall } from "./works.js";

alone();

/** opencode as a plugin sees it: it calls the hooks in the order of opencode 1, and a throwing hook is a call that fails. */
class Host {
  readonly outputs: string[] = []; // what the model gets
  readonly logged: string[] = [];
  aborted = 0;
  private hooks: Hooks = {};

  async load(options: OpenCodeOptions): Promise<this> {
    const session = { abort: async () => void this.aborted++ };
    const app = { log: async ({ body }: { body: { message: string } }) => void this.logged.push(body.message) };
    atEnd(() => Reflect.deleteProperty(globalThis, Symbol.for("unloop.opencode")));
    this.hooks = await plugin.server({ client: { session, app } } as unknown as PluginInput, { ...options });
    return this;
  }

  /** Runs a turn: the model's steps, of which the last repeats until a text ends it, or the session is aborted. */
  async turn(sessionID: string, steps: Step[]): Promise<void> {
    const parts = [{ type: "text", text: "Find the lost letter." }] as never;
    await this.hooks["chat.message"]?.({ sessionID }, { message: { agent: "build" } as never, parts });
    const aborted = this.aborted;
    for (let at = 0; at < 50 && this.aborted === aborted; at++) {
      const step = steps[Math.min(at, steps.length - 1)] ?? "";
      await this.step(sessionID, `${sessionID}-${Math.random()}`, step);
      if (typeof step === "string") break;
    }
    const error = { name: "MessageAbortedError", data: { message: "Aborted" } };
    if (this.aborted > aborted) await this.event("session.error", { sessionID, error });
    await this.event("session.idle", { sessionID });
  }

  private async step(sessionID: string, messageID: string, step: Step): Promise<void> {
    const of = { sessionID, messageID };
    const info = { id: messageID, sessionID, role: "assistant", modelID: "script", agent: "build" };
    await this.event("message.updated", { info });
    const start = { part: { ...of, id: `${messageID}-start`, type: "step-start" } };
    for (const _again of [1, 2]) await this.event("message.part.updated", start);
    const text = typeof step === "string" ? step : String(step[0]?.args.say ?? "");
    if (text) await this.hooks["experimental.text.complete"]?.({ ...of, partID: "p" }, { text });
    if (typeof step !== "string") await Promise.all(step.map((call, n) => this.call(of, `${messageID}-${n}`, call)));
    const tokens = { input: USAGE.input - 4, output: USAGE.output, reasoning: 2, cache: { read: 4, write: 0 } };
    await this.event("message.part.updated", { part: { ...of, id: `${messageID}-end`, type: "step-finish", cost: 0, tokens } });
  }

  private async call(of: { sessionID: string; messageID: string }, callID: string, { tool, args: given }: WantedCall) {
    const { say: _, ...args } = given;
    const call = { tool, sessionID: of.sessionID, callID };
    try {
      await this.hooks["tool.execute.before"]?.(call, { args });
      const output = { title: tool, output: archive[tool]?.run(args) ?? "", metadata: {} };
      await this.hooks["tool.execute.after"]?.({ ...call, args }, output);
      this.outputs.push(output.output);
    } catch (error) {
      const { message } = error as Error;
      this.outputs.push(message);
      const part = { ...of, id: callID, type: "tool", tool, callID, state: { status: "error", error: message } };
      await this.event("message.part.updated", { part });
    }
  }

  private async event(type: string, properties: object): Promise<void> {
    await this.hooks.event?.({ event: { type, properties } as never });
  }
}

testWorks("works", async (id, steps) => (await new Host().load({ guard: false })).turn(id, steps));

test("a session that loops is nudged, then blocked, then aborted", async () => {
  const server = await startServer();
  const host = await new Host().load({});
  await host.turn("r", [lost]);
  assert.equal(host.outputs[0], "one letter, of 1911");
  assert.ok(host.outputs.some((output) => output.startsWith("one letter, of 1911\n\n[loop-guard] ")));
  assert.match(host.outputs.at(-1) ?? "", /^\[loop-guard\] Halted: /);
  assert.equal(host.aborted, 1);
  await flush();
  const events = await server.events("r");
  assertBlocked(events);
  assert.deepEqual([...new Set(events.filter((event) => event.tool).map((event) => event.agent))], ["build"]);
  assert.equal(events.at(-1)?.type, "run_failed");
  assert.match(String(events.at(-1)?.error), /^halted: Halted: /);
  assertModelCall(
    events.find((event) => event.type === "llm_call_completed"),
    "script",
    "build",
  );
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("a message of the user lets a halted session continue", async () => {
  const host = await new Host().load({ record: false });
  await host.turn("r", [lost]);
  host.outputs.length = 0;
  await host.turn("r", [lost, "Found."]);
  assert.match(host.outputs[0] ?? "", /^one letter, of 1911/);
});

test("a session that makes progress is not changed", async () => {
  const pages = Array.from({ length: 12 }, (_, page): Step => [{ tool: "read", args: { page } }]);
  const host = await new Host().load({ record: false });
  await host.turn("r", [...pages, "Done."]);
  assert.deepEqual(
    host.outputs,
    Array.from({ length: 12 }, (_, page) => archive.read?.run({ page })),
  );
});

test("the nudge about a tool that throws is in the next output", async () => {
  const host = await new Host().load({ record: false });
  const away: Step = [{ tool: "fetch", args: { url: "https://archive.example" } }];
  await host.turn("r", [away, away, away, away, [{ tool: "read", args: { page: 1 } }], "I give up."]);
  assert.equal(host.outputs[0], "the host does not answer");
  assert.match(host.outputs.at(-1) ?? "", /^page 1: .*\n\n\[loop-guard\] /s);
});

test("a text that repeats beside calls is nudged with the next output", async () => {
  const host = await new Host().load({ record: false });
  const say = "I will look into the next box of letters.";
  await host.turn(
    "r",
    Array.from({ length: 12 }, (_, k): Step => [{ tool: "search", args: { query: `the lost letter ${k}`, say } }]),
  );
  assert.match(host.outputs[3] ?? "", /^one letter, of 1911\n\n\[loop-guard\] .* repeats what it said before/s);
});

test("a shell command that exits with an error is recorded as failed, and a turn that fails ends its run", async () => {
  const server = await startServer();
  const hooks = await plugin.server({ client: {} } as unknown as PluginInput, { guard: false });
  const call = { tool: "bash", sessionID: "r", callID: "c", args: { command: "make" } };
  await hooks["tool.execute.before"]?.(call, { args: call.args });
  await hooks["tool.execute.after"]?.(call, { title: "", output: "no rule", metadata: { exit: 2 } });
  const error = { name: "APIError", data: { message: "no credit" } };
  await hooks.event?.({ event: { type: "session.error", properties: { sessionID: "r", error } } as never });
  await hooks.dispose?.();
  const events = await server.events("r");
  assert.deepEqual(types(events), ["run_started", "tool_call_started", "tool_call_failed", "run_failed"]);
  assert.deepEqual([events[2]?.error, events[3]?.error], ["no rule", "APIError: no credit"]);
});

test('without a guard calls run with onMissing "warn", and are denied otherwise', async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const steps = [lost, "Found."];
  const open = await new Host().load({ record: false, guard: { onMissing: "warn" } });
  await open.turn("r", steps);
  assert.deepEqual(open.outputs, ["one letter, of 1911"]);
  assert.match(open.logged.join(), /the agent runs unguarded/);
  const closed = await new Host().load({ record: false });
  await closed.turn("r", steps);
  assert.match(closed.outputs[0] ?? "", /no guard is available/);
});

test("the plugin of unloop hook does nothing beside this one", async () => {
  const command = JSON.stringify('cat >/dev/null; echo \'{"deny":"judged twice"}\'');
  const part = (name: string) => readFileSync(join(root, "internal/hook/install", name), "utf8");
  const source = `${part("ask.js").replace('"UNLOOP_COMMAND"', command)}\n${part("opencode.js")}`;
  const path = join(temporary(), "unloop.mjs");
  writeFileSync(path, source);
  const { default: installed } = await import(path);
  const hooks: Hooks = await installed.server({ directory: "/" });
  const call = () => hooks["tool.execute.before"]?.({ tool: "read", sessionID: "r", callID: "c" }, { args: {} });
  await assert.rejects(async () => call(), /judged twice/);
  await new Host().load({ record: false });
  await call();
});
