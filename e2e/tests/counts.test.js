// The page of an imported run has the counts that scan prints, and no times that the trace does not have.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { launch, open } from "../browser.js";
import { run, Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

async function scanned(file) {
  const scan = run("scan", "--format", "json", "--fail-on", "never", file);
  assert.equal(await scan.ended, 0, scan.said.text);
  const imported = run("import", "--endpoint", server.url, file);
  assert.equal(await imported.ended, 0, imported.said.text);
  return JSON.parse(scan.said.text.split("\n")[0]);
}

async function factsOf(page) {
  const summary = page.getByRole("region", { name: "Run summary" });
  await summary.getByText("Events", { exact: true }).waitFor();
  const facts = await summary.locator("dl > div").evaluateAll((all) => all.map((d) => [d.querySelector("dt").textContent, d.querySelector("dd").textContent]));
  return Object.fromEntries(facts);
}

describe("the page of an imported run", () => {
  test("has the counts of a scan, and ends when the trace does", async (t) => {
    const scan = await scanned("examples/stuck-agent.jsonl");
    const page = await open(t, browser, server, `/runs/${scan.run_id}`);
    const facts = await factsOf(page);
    assert.deepEqual([facts.Events, facts["Tool calls"], facts["Failed steps"]], [scan.events, scan.metrics.total_tool_calls, scan.metrics.total_failed_steps].map(String));
    assert.equal(facts.Duration, "1 min 31 s");
    assert.equal(scan.metrics.total_duration_sec, 91);
    const warnings = page.getByRole("heading", { name: /^Warnings/ }).first();
    assert.equal((await warnings.textContent()).trim(), `Warnings ${scan.warnings.length}`);
  });

  test("shows no duration and no start where the trace has no times", async (t) => {
    const scan = await scanned("examples/healthy/support.jsonl");
    const page = await open(t, browser, server, `/runs/${scan.run_id}`);
    const facts = await factsOf(page);
    assert.equal(facts.Events, String(scan.events));
    assert.equal(facts.Duration, undefined);
    await page.getByText("time unknown").waitFor();
    await page.goto(server.url);
    const row = page.getByRole("row").filter({ has: page.locator(`a[href="/runs/${scan.run_id}"]`) });
    await row.waitFor();
    assert.ok(!/0\.0+ s|\b0 ms/.test(await row.textContent()), await row.textContent());
  });
});
