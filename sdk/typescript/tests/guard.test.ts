import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { configure } from "../src/core.js";
import { Guard, GuardUnavailable, LoopError, trace } from "../src/index.js";
import { alone, flush, reply, Scripted, Server, said, setEnvironment, startServer, temporary, until } from "./harness.js";

alone();

/** A program that behaves as the script says. */
function fakeProgram(script: string): string {
  const path = join(temporary(), "unloop");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function search(guard: Guard, times: number): Promise<string[]> {
  const actions: string[] = [];
  for (let n = 0; n < times; n++) {
    const decision = await guard.before("search", { query: "loops" }, { id: `${n}` });
    actions.push(decision.action);
    if (decision.ok) await guard.after("search", { query: "loops" }, { result: "0 results" }, { id: `${n}` });
  }
  return actions;
}

test("a tool that repeats is nudged, then blocked, then stopped", async () => {
  const guard = new Guard();
  let ran = 0;
  const tool = guard.wrap(
    async (_args: { query: string }) => {
      ran++;
      return { hits: [] as string[] };
    },
    { name: "search" },
  );
  const results: unknown[] = [];
  const failure = await assert.rejects(async () => {
    for (let n = 0; n < 30; n++) results.push(await tool({ query: "loops" }));
  }, LoopError);
  assert.equal(failure, undefined);
  assert.deepEqual(results[0], { hits: [] });
  assert.equal((results[2] as { _loop_guard: { action: string } })._loop_guard.action, "warn");
  assert.equal((results.at(-1) as { loop_blocked: boolean }).loop_blocked, true);
  assert.ok(ran < 10, `it ran ${ran} times`);
});

test("work that makes progress is left alone", async () => {
  const guard = new Guard();
  const read = guard.wrap(async (page: number) => `page ${page}: ${Array.from({ length: 12 }, (_, n) => `word${page * 31 + n}`)}`);
  for (let page = 0; page < 20; page++) assert.doesNotMatch(await read(page), /loop-guard/);
});

test("the error of a tool keeps its class and gains the nudge", async () => {
  class Away extends Error {}
  const fetch = new Guard().wrap(async (_url: string): Promise<string> => {
    throw new Away("the host does not answer");
  });
  const messages: string[] = [];
  for (let n = 0; n < 5; n++) {
    const result = await fetch("https://archive.example").catch((error: Error) => {
      assert.ok(error instanceof Away);
      messages.push(error.message);
    });
    assert.ok(result === undefined || JSON.stringify(result).includes("loop_blocked"));
  }
  assert.equal(messages[0], "the host does not answer");
  assert.match(messages[3] ?? "", /^the host does not answer \[loop-guard\] /);
});

test("runs of one process are guarded each by itself", async () => {
  const guard = new Guard();
  await search(guard.run("a"), 2);
  assert.deepEqual(await search(guard.run("b"), 2), ["allow", "allow"]);
  assert.equal((await guard.run("a").runState())?.calls, 2);
});

test("calls in parallel keep their ids", async () => {
  const guard = new Guard();
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const call = { id: `${n}` };
      await guard.before("read", { page: n }, call);
      await guard.after("read", { page: n }, { result: `page ${n}` }, call);
    }),
  );
  assert.equal((await guard.runState())?.calls, 20);
});

test("values that are no JSON are judged, and returned unchanged but for the nudge", async () => {
  const date = new Date(0);
  const look = new Guard().wrap(async (_at: { when: Date }) => new Map([["a", 1n]]));
  const results: unknown[] = [];
  for (let n = 0; n < 3; n++) results.push(await look({ when: date }));
  assert.ok(results[0] instanceof Map);
  assert.ok((results[2] as { result: unknown }).result instanceof Map);
  assert.equal((results[2] as { _loop_guard: { action: string } })._loop_guard.action, "warn");
});

test("a snapshot continues in another process", async () => {
  const first = new Guard({ run: "r", profile: "default" });
  await search(first, 2);
  const snapshot = await first.snapshot();
  assert.ok(snapshot);
  const second = new Guard({ run: "r", settings: {} }).run("other");
  assert.equal(await second.restore(snapshot), true);
  assert.equal((await second.runState())?.calls, 2);
  await second.reset();
  assert.equal((await second.runState())?.calls, 0);
});

test("a process that is killed is started again, and has its runs back", async () => {
  const guard = new Guard({ run: "r" });
  await search(guard, 1);
  await guard.text("a".repeat(10));
  for (let n = 0; n < 10; n++) await guard.before("read", { page: n }); // a snapshot is taken every 8 lines
  const calls = (await guard.runState())?.calls as number;
  const { GuardProcess } = await import("../src/guard/child.js");
  const transport = (guard as unknown as { shared: { transport: InstanceType<typeof GuardProcess> } }).shared.transport;
  (transport as unknown as { process: { kill(how: string): void } }).process.kill("SIGKILL");
  await until(() => (transport as unknown as { process: unknown }).process === undefined);
  const restored = (await guard.runState())?.calls as number;
  assert.ok(restored > 0 && restored <= calls, `it has ${restored} of ${calls} calls`);
  assert.deepEqual(said, []);
});

test("without a guard the first call is refused, and says why", async () => {
  setEnvironment("UNLOOP_BIN", "/nowhere/unloop");
  const guard = new Guard();
  await assert.rejects(guard.ready(), {
    name: "GuardUnavailable",
    message: /UNLOOP_BIN is \/nowhere\/unloop, which is not an executable/,
  });
  await assert.rejects(guard.before("search"), GuardUnavailable);
});

test("a wrong profile or setting is refused with the program's own message", async () => {
  await assert.rejects(new Guard({ profile: "none" }).ready(), /profile/);
  await assert.rejects(new Guard({ settings: { same_results: -1 } }).ready(), /same_results/);
  assert.throws(() => new Guard({ onMissing: "ignore" as "warn" }), /invalid onMissing "ignore": want "refuse" or "warn"/);
});

test('with onMissing "warn" the agent runs unguarded, and the log says so once', async () => {
  setEnvironment("UNLOOP_BIN", "/nowhere/unloop");
  const guard = new Guard({ onMissing: "warn" });
  assert.deepEqual(await search(guard, 3), ["allow", "allow", "allow"]);
  assert.equal((await guard.before("search")).guarded, false);
  assert.equal(said.filter((message) => message.startsWith("the agent runs unguarded: ")).length, 1);
});

test("a guard that hangs is killed, and the agent goes on", async () => {
  setEnvironment("UNLOOP_BIN", fakeProgram('read line; echo \'{"id":null,"stats":{}}\'; exec sleep 60'));
  const guard = new Guard({ timeoutMs: 100 });
  const decision = await guard.before("search");
  assert.deepEqual([decision.action, decision.code], ["allow", "unguarded"]);
  assert.deepEqual(said, ["the agent runs unguarded: the guard timed out"]);
});

test("garbage in place of an answer leaves the agent unguarded", async () => {
  setEnvironment("UNLOOP_BIN", fakeProgram("read line; echo '{\"stats\":{}}'; while read line; do echo garbage; done"));
  assert.equal((await new Guard().before("search")).guarded, false);
  assert.deepEqual(said, ["the agent runs unguarded: the guard's response is not JSON"]);
});

test("UNLOOP_DISABLED allows everything and starts nothing", async () => {
  setEnvironment("UNLOOP_BIN", "/nowhere/unloop");
  configure({ enabled: false });
  assert.deepEqual(await search(new Guard(), 3), ["allow", "allow", "allow"]);
  assert.deepEqual(said, []);
});

test("a server decides as the child process does", async () => {
  const server = await startServer();
  const far = await search(new Guard({ endpoint: server.url }), 12);
  assert.deepEqual(far, await search(new Guard(), 12));
  assert.ok(far.includes("block"));
});

test("the server that records a run learns what its guard decides", async () => {
  const server = await startServer();
  const guard = new Guard({ run: "guarded" });
  await trace("guarded", { id: "guarded" }, async () => {
    const actions = await search(guard, 20);
    assert.equal(actions.at(-1), "halt");
  });
  await trace("calm", { id: "calm" }, () => search(guard.run("calm"), 1));
  await trace("observed", { id: "observed" }, () => search(guard.run("another"), 20));
  assert.equal(await flush(), true);
  const run = await server.get("/api/runs/guarded");
  assert.deepEqual([run.guarded_by, run.worst_decision], ["TypeScript", "halt"]);
  assert.equal((await server.get("/api/runs/calm")).guarded_by, "TypeScript");
  assert.equal((await server.get("/api/runs/observed")).guarded_by, null);
  const decisions: { action: string; by_guard: boolean }[] = await server.get("/api/runs/guarded/decisions");
  const told = decisions.filter((decision) => decision.by_guard).map((decision) => decision.action);
  assert.deepEqual([...new Set(told)], ["warn", "block", "halt"]);
});

test("without the program the server of the settings decides", async () => {
  setEnvironment("UNLOOP_BIN", "");
  setEnvironment("PATH", "/nowhere");
  const server = await startServer();
  assert.ok((await search(new Guard(), 6)).includes("warn") || (await server.get("/api/health")));
  assert.equal((await new Guard().before("search")).guarded, true);
});

test("a server that ends leaves the agent unguarded until it is back", async () => {
  const server = await new Server().start();
  const guard = new Guard({ endpoint: server.url });
  await search(guard, 1);
  await server.stop();
  assert.equal((await guard.before("search")).guarded, false);
  assert.match(said[0] ?? "", /^the agent runs unguarded: cannot reach the server at /);
});

test("a server with a token is asked with it", async () => {
  const scripted = await new Scripted((_, response) => void response.end('{"stats":{}}\n')).start();
  await new Guard({ endpoint: `${scripted.url}/below/`, token: "secret", profile: "loopguard", settings: { repeats: 3 } }).ready();
  assert.equal(scripted.requests[0]?.headers.authorization, "Bearer secret");
  assert.equal(scripted.requests[0]?.path, "/below/api/guard?profile=loopguard&set=repeats%3D3");
});

test("a server that answers with an error is not a guard", async () => {
  const scripted = await new Scripted((_, response) => reply(response, 400, {})).start();
  await assert.rejects(new Guard({ endpoint: scripted.url }).ready(), /returned 400/);
});
