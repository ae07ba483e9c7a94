import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { flush, trace } from "../src/index.js";
import { alone, type Server, startServer, unloop } from "./harness.js";

alone();

const execute = promisify(execFile);

/** A program that observes a run and guards a tool, in plain JavaScript. */
const program = (server: Server, guard: string): string => `
  const { configure, event, flush, Guard, observe, stats, trace } = await import(${JSON.stringify(resolve("build/src/index.js"))});
  configure({ endpoint: ${JSON.stringify(server.url)} });
  const search = new Guard(${guard}).wrap(async () => ({ hits: [] }), { name: "search" });
  const observed = observe(async (args) => "0 results", { name: "look" });
  let blocked = false;
  await trace("r", { id: "r" }, async (run) => {
    run.event("message", { role: "user", text: "Find it. ".repeat(500) });
    for (let n = 0; n < 8; n++) {
      run.activate(() => observed({ query: "loops" }));
      blocked ||= "loop_blocked" in (await search().catch(() => ({})));
    }
  });
  console.log(await flush(), blocked, stats().sent);`;

for (const [runtime, command] of [
  ["Bun", ["bun", "--eval"]],
  ["Deno", ["deno", "eval"]],
] as const) {
  test(`${runtime} runs the package, with the child process as the guard`, async () => {
    const server = await startServer();
    const env = { ...process.env, UNLOOP_BIN: unloop, DENO_NO_UPDATE_CHECK: "1" };
    const [name, ...args] = command;
    const { stdout } = await execute(`node_modules/.bin/${name}`, [...args, program(server, "{}")], { env });
    assert.equal(stdout, "true true 19\n");
    assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
  });
}

test("a runtime with fetch alone runs the package, with a server as the guard", async () => {
  const server = await startServer();
  const without = "delete globalThis.process; delete globalThis.CompressionStream;";
  const { stdout } = await execute(process.execPath, ["--input-type=module", "--eval", without + program(server, "{}")]);
  assert.equal(stdout, "true true 19\n");
  assert.deepEqual(await server.rules("r"), ["same_call_same_result"]);
});

test("waitUntil gets a promise that resolves when the server has the events", async () => {
  const server = await startServer();
  const waited: Promise<unknown>[] = [];
  const waitUntil = (promise: Promise<unknown>): void => void waited.push(promise);
  const handler = (): string => {
    const answer = trace("request", { id: "r" }, () => "answered");
    waitUntil(flush());
    return answer;
  };
  assert.equal(handler(), "answered");
  assert.deepEqual(await Promise.all(waited), [true]);
  assert.equal((await server.events("r")).length, 2);
});
