// The overview: totals, changes, groups, and whether a change helped.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

// Two prompts: with v1, each second run loops; with v2, none does. A day before there was one run.
const hour = 3_600_000;
const now = Date.now();
for (let i = 0; i < 50; i++) {
  const id = `r${i}`;
  const prompt = i % 2 ? "v2" : "v1";
  const project = i < 40 ? "shop" : "blog";
  await server.post("/api/runs", JSON.stringify({ id, name: `run ${i}`, project, metadata: { prompt } }));
  const agent = new Agent(id, { name: `run ${i}`, project, agent: i % 3 ? "coder" : "reviewer", start: now - 2 * hour });
  await server.send([...agent.begin(), ...agent.work(2), ...(i % 4 === 0 ? agent.loop(8) : []), ...agent.end()]);
}
const earlier = new Agent("earlier", { name: "the day before", project: "shop", start: now - 30 * hour });
await server.send([...earlier.begin(), ...earlier.call("deploy", {}, "done", 9000), ...earlier.end()]);

const fact = (page, name) => page.getByRole("term").filter({ hasText: name }).locator("xpath=..");

describe("the overview", () => {
  test("shows totals, and their change since the period before", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h");
    await fact(page, "Loop rate").getByText("26 %", { exact: true }).waitFor(); // 13 of 50
    await fact(page, "Runs").getByText("▲ 4900 % · 1 in the period before").waitFor();
    for (const name of ["Runs", "Loop rate in %", "Median duration in seconds", "Mean latency of a step in ms"]) {
      await page.getByRole("region", { name: `${name} over time` }).getByRole("img").waitFor();
    }
    // No event has tokens or a cost: neither has a chart, and none is said to be $0.
    assert.equal(await page.getByRole("region", { name: /^(Cost|Tokens).* over time$/ }).count(), 0);
    await fact(page, "Calls after the first warning").getByText(/^\d+\u00a0% of the calls$/).waitFor();
    assert.ok(!(await page.getByRole("main").textContent()).includes("$0"), "a cost that nobody knows");
  });

  test("leads to the looping runs of a rule, and keeps its filters", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h&project=blog");
    await page.getByRole("table", { name: "Tools that loop most" }).getByRole("row", { name: /^search/ }).waitFor();
    await page.getByRole("table", { name: "Rules that warn most" }).getByRole("link", { name: "Same call same result" }).click();
    await page.waitForURL((url) => url.pathname === "/" && ["project=blog", "since=24h", "warning=same_call_same_result"].every((q) => url.search.includes(q)));
    const links = page.getByRole("grid", { name: "Runs" }).getByRole("link", { name: /^run/ });
    await links.first().waitFor();
    assert.deepEqual((await links.allTextContents()).sort(), ["run 40", "run 44", "run 48"]);
  });

  test("groups runs by project, agent and metadata", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h");
    const groups = page.getByRole("region", { name: "Table of groups" });
    await groups.getByRole("row", { name: /^shop\W+40\W+25 %/ }).waitFor();
    await page.getByRole("combobox", { name: "Group by" }).selectOption("agent");
    await groups.getByRole("row", { name: /^coder\W+33\b/ }).waitFor();
    await page.getByRole("combobox", { name: "Group by" }).selectOption({ label: "prompt" });
    await groups.getByRole("row", { name: /^v2\W+25\W+0 %/ }).waitFor();
    await groups.getByRole("link", { name: "v1", exact: true }).click();
    await page.getByText("25 runs", { exact: true }).waitFor();
  });

  test("removes a filter", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h&project=blog");
    await fact(page, "Runs").getByText("10", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove the filter Project: blog" }).click();
    await fact(page, "Runs").getByText("50", { exact: true }).waitFor();
  });

  test("leads to the slowest step of a run, which it names", async (t) => {
    const page = await open(t, browser, server, "/overview?since=168h");
    const slowest = page.getByRole("region", { name: "Slowest steps" }).getByRole("listitem").filter({ hasText: "deploy" });
    await slowest.getByText("9.0 s").waitFor();
    await slowest.getByRole("link", { name: "the day before" }).click();
    await page.getByRole("complementary", { name: "Event" }).getByText(/\bearlier-3$/).waitFor();
  });

  test("keeps its period in the URL", async (t) => {
    const page = await open(t, browser, server, "/overview");
    await page.getByRole("combobox", { name: "Period" }).selectOption("1h");
    await page.waitForURL(/since=1h/);
    await page.getByText("No runs started in this period. Show the last 365 days").waitFor();
  });
});

describe("did a change help", () => {
  const part = (page) => page.getByRole("region", { name: "Did a change help?" });

  test("compares two values of the metadata", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h");
    await part(page).getByRole("combobox", { name: "Compare by" }).selectOption({ label: "Values of prompt" });
    await part(page).getByRole("status").filter({ hasText: "The loop rate fell from 52 % to 0 %. A difference like this is unlikely to be chance" }).waitFor();
    await part(page).getByRole("row", { name: /^Runs 25 25/ }).waitFor();
    await page.waitForURL(/a=prompt%3Dv1&b=prompt%3Dv2/);
    await part(page).getByRole("combobox", { name: "Value of B" }).selectOption("v1");
    await part(page).getByRole("status").filter({ hasText: "A and B are the same." }).waitFor();
  });

  test("compares two periods", async (t) => {
    const page = await open(t, browser, server, "/overview?since=24h");
    await part(page).getByRole("combobox", { name: "Compare by" }).selectOption("period");
    await part(page).getByRole("row", { name: /^Runs 1 50/ }).waitFor(); // the day before, and the last one
    const until = part(page).getByLabel("A until");
    await until.fill((await part(page).getByLabel("A from").inputValue()).replace(/T.*/, "T23:59"));
    await page.waitForURL((url) => new Date(url.searchParams.get("a").split("/")[1]).getMinutes() === 59);
    await page.reload();
    await part(page).getByRole("table", { name: "Comparison" }).waitFor();
  });
});
