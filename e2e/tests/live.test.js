// What happens on a server appears on the page by itself.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Agent, spans } from "../agents.js";
import { launch, marked, open } from "../browser.js";
import { run, Server } from "../server.js";

const browser = await launch({ after });

const rowOf = (page, name) => page.getByRole("grid", { name: "Runs" }).getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

describe("the list of runs", () => {
  test("shows how to send a first event, and turns live when it comes", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/");
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    for (const way of ["curl", "Python", "OpenTelemetry"]) await page.getByRole("heading", { name: way, exact: true }).waitFor();
    assert.equal(await page.getByRole("button", { name: "Copy" }).count(), 3);
    const stays = await marked(page);
    await server.send(new Agent("first").work(1));
    await rowOf(page, "first").waitFor();
    assert.ok(await stays(), "the page was loaded again");
  });

  test("has a first event that can be copied and run as it stands", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/", { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByRole("button", { name: "Copy" }).first().click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    const body = /-d '([^']*)'/.exec(command)?.[1];
    assert.ok(command.startsWith(`curl ${server.url}/api/events `) && body, command);
    await server.post("/api/events", body);
    await rowOf(page, "first").waitFor();
  });

  test("shows the agents of unloop demo as they work", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/");
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    const stays = await marked(page);
    const demo = run("demo", "--endpoint", server.url, "--speed", "30");
    const stuck = rowOf(page, "Demo: stuck agent");
    const healthy = rowOf(page, "Demo: healthy agent");
    await Promise.all([stuck.waitFor(), healthy.waitFor()]);
    assert.equal(await demo.ended, 0, demo.said.text);
    await healthy.getByRole("gridcell", { name: "completed", exact: true }).waitFor();
    assert.doesNotMatch(await healthy.textContent(), /warn|block|halt/);
    await stuck.getByText(/^would have (nudged|blocked|halted)$/).waitFor();
    assert.ok(await stays(), "the page was loaded again");
  });

  test("shows what a run did, growing with it, and reads no run's events for that", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("preview");
    await server.send([...agent.begin(), ...agent.work(4)]);
    const page = await open(t, browser, server, "/", { viewport: { width: 1700, height: 900 } }); // tools are in sight on wide screens
    const asked = [];
    page.on("request", (r) => asked.push(new URL(r.url()).pathname));
    const row = rowOf(page, "preview");
    await row.getByRole("img", { name: "100 % of steps had a new result" }).waitFor();
    await row.getByText("read_file", { exact: true }).waitFor();
    await server.send(agent.loop(6));
    await row.getByRole("img", { name: "50 % of steps had a new result, none in the last third" }).waitFor();
    await row.getByText("search, read_file", { exact: true }).waitFor();
    assert.deepEqual(asked.filter((path) => path.startsWith("/api/runs/")), []);
  });

  test("keeps the chosen run chosen and the place where one reads when a new run comes on top", async (t) => {
    const server = await Server.start(t);
    const day = Date.UTC(2026, 4, 2);
    await server.send(Array.from({ length: 60 }, (_, n) => new Agent(`old-${n}`, { start: day - n * 1000 }).begin()).flat());
    const page = await open(t, browser, server, "/");
    await rowOf(page, "old-1").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await server.send(new Agent("newer", { start: day + 1000 }).begin());
    await rowOf(page, "newer").waitFor();
    const grid = page.getByRole("grid", { name: "Runs" });
    const chosen = await grid.evaluate((g) => document.getElementById(g.getAttribute("aria-activedescendant")).textContent);
    assert.match(chosen, /^\s*old-1\b/);
    await grid.evaluate((g) => {
      g.scrollTop = 28 * 20 + 10;
      return new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    await rowOf(page, "old-19").waitFor();
    const top = async () => (await rowOf(page, "old-22").boundingBox()).y;
    const before = await top();
    await server.send(new Agent("newest", { start: day + 2000 }).begin());
    await page.getByText("62 runs", { exact: true }).waitFor();
    assert.equal(await top(), before);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/runs\/old-1$/);
  });

  test("does not go back to an answer that is older than what the stream told since", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("known", { name: "report one" });
    await server.send(agent.begin());
    const page = await open(t, browser, server, "/?text=report");
    await rowOf(page, "report one").getByRole("gridcell", { name: "running", exact: true }).waitFor();
    await page.getByRole("status", { name: "Connection" }).filter({ hasText: "Live" }).waitFor();
    let late;
    await page.route("**/api/runs?*", async (route) => {
      const old = await route.fetch();
      await server.send(agent.end());
      await rowOf(page, "report one").getByRole("gridcell", { name: "completed", exact: true }).waitFor();
      late = route.fulfill({ response: old });
      await late;
    });
    await server.send(new Agent("other", { name: "report two" }).begin()); // only the server knows whether it belongs here
    await rowOf(page, "report two").waitFor();
    await late;
    assert.match(await rowOf(page, "report one").textContent(), /completed/);
  });

  test("shows runs that come as spans", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/");
    await server.post("/v1/traces", JSON.stringify(spans("researcher", 8)));
    const row = rowOf(page, "researcher");
    await row.waitFor();
    await row.getByText(/^would have (nudged|blocked|halted)$/).waitFor();
  });

  test("keeps its filter in the address", async (t) => {
    const server = await Server.start(t);
    await server.send([...new Agent("alpha").begin(), ...new Agent("beta").begin(), ...new Agent("gamma").begin()]);
    const page = await open(t, browser, server, "/");
    await rowOf(page, "alpha").waitFor();
    await page.getByRole("searchbox", { name: "Search runs" }).fill("beta");
    await rowOf(page, "alpha").waitFor({ state: "detached" });
    await page.waitForURL(/[?&]text=beta/);
    await page.reload();
    await rowOf(page, "beta").waitFor();
    assert.equal(await rowOf(page, "alpha").count(), 0);
    await page.getByRole("button", { name: "Clear" }).click();
    await rowOf(page, "gamma").waitFor();
  });
});

describe("a run", () => {
  test("has warnings whose counts grow while one looks", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("grows");
    await server.send([...agent.begin(), ...agent.loop(5)]);
    const page = await open(t, browser, server, "/runs/grows");
    const stays = await marked(page);
    const count = page.getByRole("region", { name: "Warnings" }).getByText(/^× \d+$/).first();
    await count.waitFor();
    const seen = [Number((await count.textContent()).slice(2))];
    for (let round = 0; round < 3; round++) {
      await server.send(agent.loop(2));
      const want = seen.at(-1) + 2;
      await page.getByRole("region", { name: "Warnings" }).getByText(`× ${want}`, { exact: true }).first().waitFor();
      seen.push(want);
    }
    const [warning] = await server.get("/api/runs/grows/warnings");
    assert.equal(warning.count, seen.at(-1));
    assert.ok(await stays(), "the page was loaded again");
  });

  test("appears when its first event comes, for who looks before", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/runs/later", { expect: [/404/] });
    await page.getByText("No run has the id later.").waitFor();
    await server.send(new Agent("later", { name: "the later one" }).begin());
    await page.getByRole("heading", { name: "the later one" }).waitFor();
  });

  test("goes on after the server was away, with nothing missing and nothing twice", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("on");
    await server.send([...agent.begin(), ...agent.work(4)]);
    const page = await open(t, browser, server, "/runs/on", { expect: [/ERR_/] });
    const connection = page.getByRole("status", { name: "Connection" });
    const shown = page.getByRole("status", { name: "Events shown" });
    await connection.filter({ hasText: "Live" }).waitFor();
    await shown.filter({ hasText: /^9 events$/ }).waitFor();
    const stays = await marked(page);
    await server.stop();
    await connection.filter({ hasText: "Reconnecting" }).waitFor();
    await server.go();
    await server.send(agent.work(3));
    await connection.filter({ hasText: "Live" }).waitFor();
    await shown.filter({ hasText: /^15 events$/ }).waitFor();
    const names = page.getByRole("treegrid", { name: "Timeline" }).getByText(/^src\/part-\d+\.go$/);
    assert.deepEqual(await names.allTextContents(), [0, 1, 2, 3, 4, 5, 6].map((n) => `src/part-${n}.go`));
    assert.ok(await stays(), "the page was loaded again");
  });

  test("keeps its end in sight for who follows it", async (t) => {
    const server = await Server.start(t);
    const agent = new Agent("followed");
    await server.send([...agent.begin(), ...agent.work(200)]);
    const page = await open(t, browser, server, "/runs/followed");
    await page.getByRole("checkbox", { name: "Follow live" }).check();
    await page.getByText("src/part-199.go").waitFor();
    await server.send(agent.work(30));
    await page.getByText("src/part-229.go").waitFor();
  });
});
