import assert from "node:assert/strict";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { z } from "zod";
import { event, LoopError, trace } from "../src/index.js";
import { guardClient } from "../src/mcp.js";
import { alone, atEnd, flush, startServer } from "./harness.js";
import { tools as archive, USAGE, verdict, works } from "./works.js";

alone();

/** Starts an MCP server with the tools of the works, and returns a client of it and the names of the tools that ran. */
async function connect(): Promise<{ client: Client; ran: string[] }> {
  const ran: string[] = [];
  const server = new McpServer({ name: "archive", version: "1" });
  for (const [name, { description, parameter, run }] of Object.entries(archive)) {
    const inputSchema = { [parameter]: z.union([z.string(), z.number()]) };
    server.registerTool(name, { description, inputSchema, annotations: { readOnlyHint: true } }, async (args) => {
      ran.push(name);
      return { content: [{ type: "text", text: run(args) }] };
    });
  }
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await Promise.all([server.connect(far), client.connect(near)]);
  atEnd(() => client.close());
  return { client, ran };
}

const text = (result: Awaited<ReturnType<Client["callTool"]>>): string =>
  (result.content as { text?: string }[]).map((part) => part.text ?? "").join("\n");

for (const profile of ["default", "looplens"]) {
  test(`works have the verdicts of the golden table, by ${profile}`, async () => {
    const server = await startServer("--profile", profile);
    const { client } = await connect();
    for (const { name, steps } of works) {
      await trace("researcher", { id: name }, async () => {
        const guarded = guardClient(client, { guard: false });
        for (const step of [...steps, []]) {
          event("llm_call_started");
          event("llm_call_completed", { tokens: USAGE.input + USAGE.output });
          for (const { tool, args } of step) await guarded.callTool({ name: tool, arguments: args });
        }
      });
    }
    assert.equal(await flush(), true);
    for (const { name, verdicts } of works) assert.deepEqual(await verdict(server, name), verdicts[profile], name);
  });
}

test("a client that repeats a call is nudged, then blocked, then stopped", async () => {
  const server = await startServer();
  const { client, ran } = await connect();
  const guarded = guardClient(client, { id: "r" });
  const results: string[] = [];
  await assert.rejects(async () => {
    for (let n = 0; n < 30; n++) {
      const result = await guarded.callTool({ name: "search", arguments: { query: "the lost letter" } });
      results.push(text(result));
      if (text(result).includes("loop_blocked")) assert.equal(result.isError, true);
    }
  }, LoopError);
  guarded.end();
  assert.equal(results[0], "one letter, of 1911");
  assert.match(results[2] ?? "", /^one letter, of 1911\n\[loop-guard\] /);
  assert.match(results.at(-1) ?? "", /loop_blocked/);
  assert.ok(ran.length < results.length);
  await flush();
  const events = await server.events("r");
  const outputs = events.filter((recorded) => recorded.type === "tool_call_completed").map((recorded) => recorded.output);
  assert.deepEqual([...new Set(outputs)], ["one letter, of 1911"]);
  assert.deepEqual([events.at(-1)?.type, await server.rules("r")], ["run_failed", ["same_call_same_result"]]);
});

test("a client that makes progress gets the results as they are, and its other methods work", async () => {
  const { client } = await connect();
  const guarded = guardClient(client, { record: false });
  assert.equal((await guarded.listTools()).tools.length, Object.keys(archive).length);
  assert.equal(guarded.getServerVersion()?.name, "archive");
  for (let page = 0; page < 12; page++) {
    const call = { name: "read", arguments: { page } };
    assert.deepEqual(await guarded.callTool(call), await client.callTool(call));
  }
});

test("a tool that fails stays an error, and is nudged", async () => {
  const { client } = await connect();
  const guarded = guardClient(client, { record: false });
  const results = [];
  for (let n = 0; n < 5; n++)
    results.push(await guarded.callTool({ name: "fetch", arguments: { url: "https://archive.example" } }));
  assert.ok(results.every((result) => result.isError));
  assert.equal(text(results[0] as never), "the host does not answer");
  assert.ok(results.some((result) => text(result).startsWith("the host does not answer\n[loop-guard] ")));
});

test("without a guard to ask the client goes on if it is told to, and refuses otherwise", async () => {
  process.env.UNLOOP_BIN = "/nowhere/unloop";
  const { client } = await connect();
  const call = { name: "read", arguments: { page: 1 } };
  assert.match(text(await guardClient(client, { record: false, guard: { onMissing: "warn" } }).callTool(call)), /^page 1/);
  await assert.rejects(guardClient(client, { record: false }).callTool(call), { name: "GuardUnavailable" });
});
