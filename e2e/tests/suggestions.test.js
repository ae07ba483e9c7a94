// Thresholds that suit the labels of runs, and what a shadow profile would have decided.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const folder = await mkdtemp(join(tmpdir(), "unloop-e2e-config-"));
after(() => rm(folder, { recursive: true, force: true }));

/** configured starts a server with a configuration file of its own. */
async function configured(t, name, text) {
  const file = join(folder, `${name}.yaml`);
  await writeFile(file, text);
  return { file, server: await Server.start(t, "--config", file) };
}

/** failing sends a run that fails n times in a row with read_file, and labels it. */
async function failing(server, name, n, label) {
  const agent = new Agent(name);
  const calls = Array.from({ length: n }, (_, i) => agent.call("read_file", { path: `a/${i}.go` }, new Error("permission denied"))).flat();
  await server.send([...agent.begin(), ...calls, ...agent.end()]);
  if (label) await server.post("/api/acts", JSON.stringify({ action: "label", run_id: name, value: label }));
}

describe("suggestions", () => {
  test("are none before a run is labelled", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/rules");
    await page.getByRole("link", { name: "Suggest thresholds" }).click();
    await page.getByText("No run is labelled yet.").waitFor();
  });

  test("say what they keep and drop, and are applied to the configuration file", async (t) => {
    const { file, server } = await configured(t, "apply", "project: web # ours\n");
    await failing(server, "waits-1", 4, "not_a_loop");
    await failing(server, "waits-2", 5, "not_a_loop");
    await failing(server, "stuck", 30, "loop");
    const page = await open(t, browser, server, "/suggestions");
    const card = page.getByRole("article", { name: "same_errors for read_file" });
    await card.getByRole("heading", { name: /^Same error: same_errors \d+ instead of 4 for read_file keeps the loops of 1 run and drops the false alarms of 2 runs\.$/ }).waitFor();
    await card.getByRole("link", { name: "waits-2" }).waitFor();
    await card.getByRole("button", { name: `Apply to ${file}` }).click();
    await card.getByText("New runs are evaluated with it.").waitFor();
    await failing(server, "waits-now", 5);
    assert.ok(!(await server.get("/api/runs/waits-now/warnings")).some((w) => w.type === "same_error"), "the threshold does not hold for a new run");
    const text = await readFile(file, "utf8");
    assert.match(text, /^project: web # ours\nsettings:\n {2}tools:\n {4}read_file:\n {6}same_errors: \d+\n$/);
    await server.stop();
    await server.go();
    await failing(server, "waits-3", 5);
    assert.ok(!(await server.get("/api/runs/waits-3/warnings")).some((w) => w.type === "same_error"), "the threshold does not hold");
    await page.goto(`${server.url}/audit`);
    await page.getByRole("row").filter({ hasText: "Apply" }).getByText(/^same_errors=\d+ for read_file$/).waitFor();
  });

  test("are shown as YAML where there is no configuration file", async (t) => {
    const server = await Server.start(t);
    await failing(server, "waits", 4, "not_a_loop");
    const page = await open(t, browser, server, "/suggestions", { permissions: ["clipboard-read", "clipboard-write"] });
    const card = page.getByRole("article", { name: "same_errors for read_file" });
    await card.getByText("The server has no configuration file, which unloop init writes.").waitFor();
    await card.getByRole("button", { name: "Copy YAML" }).click();
    await card.getByRole("button", { name: "Copied" }).waitFor();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^settings:\n {2}tools:\n {4}read_file:\n {6}same_errors: \d+\n$/);
  });
});

describe("a shadow profile", () => {
  test("is shown beside what was recorded, and leads to its events", async (t) => {
    const { server } = await configured(t, "shadow", "shadow: {profile: agentium}\n");
    const agent = new Agent("both");
    await server.send([...agent.begin(), ...agent.work(2), ...agent.loop(12), ...agent.end()]);
    const page = await open(t, browser, server, "/runs/both");
    const shadow = page.getByRole("region", { name: "Shadow profile" });
    await shadow.getByRole("heading", { name: "Shadow: agentium" }).waitFor();
    await shadow.getByText(/^Its first decision would have been at event \d+, /).waitFor();
    await shadow.getByRole("button", { name: /^event \d+$/ }).first().click();
    await page.getByRole("complementary", { name: "Event" }).waitFor();
  });

  test("is compared over all runs, before and after they get new events", async (t) => {
    const { server } = await configured(t, "all", "shadow: {profile: cycles}\n");
    const [quiet, talks] = [new Agent("quiet"), new Agent("fails")];
    await server.send([...quiet.begin(), ...quiet.work(3), ...quiet.end()]);
    const failures = Array.from({ length: 12 }, (_, i) => talks.call("read_file", { path: `a/${i}.go` }, new Error("permission denied"))).flat();
    await server.send([...talks.begin(), ...failures]);
    const page = await open(t, browser, server, "/shadow");
    await page.getByText(/^Judged: 2 runs\. The shadow profile would have done more in 0, less in 1, and the same in 1\./).waitFor();
    await page.getByRole("link", { name: /^1 run: recorded (nudge|block|halt), shadow none$/ }).click();
    await page.getByRole("heading", { name: /^Recorded \w+, shadow none$/ }).waitFor();
    await page.getByRole("link", { name: "fails" }).waitFor();
    await server.send([...talks.loop(12), ...talks.end()]);
    await page.getByRole("link", { name: /^1 run: recorded (block|halt), shadow halt$/ }).waitFor();
  });

  test("is not shown where there is none", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("alone");
    await server.send([...agent.begin(), ...agent.loop(12)]);
    const page = await open(t, browser, server, "/runs/alone");
    await page.getByRole("article", { name: "Same call same result" }).waitFor();
    assert.equal((await server.get("/api/runs/alone/shadow")).configured, false);
    assert.equal(await page.getByRole("region", { name: "Shadow profile" }).count(), 0);
  });
});
