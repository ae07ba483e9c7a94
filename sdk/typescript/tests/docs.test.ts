import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { alone, blocks, root, run, startServer } from "./harness.js";
import { startModel } from "./modelapi.js";
import { compilePages, fileOf, pages } from "./pages.js";

alone();

const LOST = { tool: "search", args: { query: "the lost letter" } };

let compiled = ""; // the folder of the examples: they are compiled at once, which takes as long as compiling one

before(async () => {
  compiled = await compilePages(Object.keys(pages));
});

after(() => rmSync(dirname(compiled), { recursive: true, force: true }));

/** Runs the examples of a page, each in a process of its own, and returns what they printed. */
async function runPage(page: string, environment: Record<string, string>): Promise<string[]> {
  return await Promise.all(blocks(page).map((_, n) => run(join(compiled, `${fileOf(page, n)}.js`), environment)));
}

test("the examples of docs/typescript.md and of the package's page run", async () => {
  const server = await startServer();
  const environment = { UNLOOP_ENDPOINT: server.url };
  const [observed, wrapped, explicit] = await runPage("docs/typescript.md", environment);
  assert.equal(observed, "true\n");
  assert.deepEqual(await server.rules("nightly-12"), ["same_call_same_result"]);
  assert.match(wrapped ?? "", /^0 \{[\s\S]*_loop_guard[\s\S]*loop_blocked[\s\S]*\nhalted Halted: /);
  assert.match(explicit ?? "", /^allow true \{ hits: \[\] \}/);
  const [readme] = await runPage("sdk/typescript/README.md", environment);
  assert.match(readme ?? "", /\nhalted Halted: /);
});

test("the examples of docs/ai-sdk.md run", async () => {
  const server = await startServer();
  const printed = await runPage("docs/ai-sdk.md", { UNLOOP_ENDPOINT: server.url });
  assert.deepEqual(
    printed.map((text) => text.slice(0, 21)),
    ["[loop-guard] Halted: ", "[loop-guard] Halted: "],
  );
  const runs = await server.get("/api/runs");
  assert.equal(runs.length, 2);
  for (const recorded of runs) assert.deepEqual(await server.rules(recorded.id), ["same_call_same_result"]);
});

test("the examples of docs/langchain-js.md run", async () => {
  const server = await startServer();
  const printed = await runPage("docs/langchain-js.md", { UNLOOP_ENDPOINT: server.url });
  assert.deepEqual(
    printed.map((text) => text.slice(0, 21)),
    ["", "[loop-guard] Halted: "],
  );
  assert.deepEqual(await server.rules("thread-7"), ["same_call_same_result"]);
});

test("the example of docs/openai-agents-js.md runs", async () => {
  const server = await startServer();
  const model = await startModel([[LOST]]);
  const environment = { UNLOOP_ENDPOINT: server.url, OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none", NODE_ENV: "" };
  const [printed] = await runPage("docs/openai-agents-js.md", environment);
  assert.match(printed ?? "", /^stopped: Halted: /);
  const [recorded] = await server.get("/api/runs");
  assert.deepEqual(await server.rules(recorded.id), ["same_call_same_result"]);
});

test("the example of docs/mcp-typescript.md runs", async () => {
  const server = await startServer();
  const [printed] = await runPage("docs/mcp-typescript.md", { UNLOOP_ENDPOINT: server.url });
  assert.match(printed ?? "", /\nstopped: Halted: /);
  const [recorded] = await server.get("/api/runs");
  assert.deepEqual(await server.rules(recorded.id), ["same_call_same_result"]);
});

for (const page of ["docs/claude-agent-sdk-js.md", "docs/mastra.md"]) {
  test(`the example of ${page} runs`, async () => {
    const server = await startServer();
    const [printed] = await runPage(page, { UNLOOP_ENDPOINT: server.url });
    assert.match(printed ?? "", /^\[loop-guard\] Halted: /);
    const [recorded] = await server.get("/api/runs");
    assert.deepEqual(await server.rules(recorded.id), ["same_call_same_result"]);
  });
}

test("the example of docs/opencode.md is a plugin, and opencode finds the one of the package", async () => {
  const example = await import(join(compiled, `${fileOf("docs/opencode.md", 0)}.js`));
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const found = await import(join(process.cwd(), exports["./server"].default));
  for (const plugin of [example.default, found.default]) {
    assert.equal(plugin.id, "unloop");
    assert.ok("tool.execute.before" in (await plugin.server({ client: {} })));
  }
  assert.match(readFileSync(`${root}/docs/opencode.md`, "utf8"), /"plugin": \["@unloop-ai\/unloop"\]/);
});

test("the pages name each adapter that the package exports", async () => {
  const page = readFileSync(`${root}/docs/typescript.md`, "utf8");
  const { exports } = JSON.parse(readFileSync("package.json", "utf8"));
  const others = [".", "./package.json", "./server"]; // the last is the plugin of opencode, under the name that opencode looks for
  const adapters = Object.keys(exports).filter((path) => !others.includes(path));
  const described = {
    "./ai": "ai-sdk",
    "./claude-agent-sdk": "claude-agent-sdk-js",
    "./langchain": "langchain-js",
    "./mastra": "mastra",
    "./mcp": "mcp-typescript",
    "./openai-agents": "openai-agents-js",
    "./opencode": "opencode",
  };
  assert.deepEqual(adapters.sort(), Object.keys(described));
  for (const [adapter, name] of Object.entries(described)) {
    assert.ok(page.includes(`(${name}.md)`), name);
    assert.ok(readFileSync(`${root}/docs/${name}.md`, "utf8").includes(`@unloop-ai/unloop${adapter.slice(1)}"`), adapter);
  }
});
