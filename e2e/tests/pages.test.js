// The pages compare, overview and rules, and the tabs of a run: graph and what if.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { Agent, nestedSpans } from "../agents.js";
import { launch, marked, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

// Two runs with the same beginning: one loops, the other ends. They start now, because the overview counts runs by their start.
const start = Date.now() - 600_000;
const loops = new Agent("loops", { name: "one that loops", start });
await server.send([...loops.begin(), ...loops.work(3), ...loops.loop(12), ...loops.end("run_failed")]);
const ends = new Agent("ends", { name: "one that ends", start });
await server.send([...ends.begin(), ...ends.work(5), ...ends.end()]);

describe("compare", () => {
  test("shows two runs that were picked in the list", async (t) => {
    const page = await open(t, browser, server, "/");
    await page.getByRole("checkbox", { name: "Select one that loops to compare" }).check();
    await page.getByRole("checkbox", { name: "Select one that ends to compare" }).check();
    await page.getByRole("link", { name: "Compare the selected runs" }).click();
    await page.getByRole("heading", { name: "Compare two runs" }).waitFor();
    await page.getByRole("region", { name: "one that loops" }).getByRole("link", { name: "Same call same result" }).waitFor();
    await page.getByRole("region", { name: "one that ends" }).getByText("No warnings unique to this run").waitFor();
  });

  test("shows the first difference and the differences of the totals", async (t) => {
    const page = await open(t, browser, server, "/compare?a=ends&b=loops");
    const parted = page.getByRole("region", { name: "First difference" });
    await parted.getByText("Call 4 differs, after 3 equal calls.").waitFor();
    await parted.getByRole("link", { name: "read_file" }).waitFor();
    await parted.getByRole("link", { name: "search" }).waitFor();
    const calls = page.getByRole("table", { name: "Totals" }).getByRole("row", { name: /^Tool calls/ });
    await calls.getByRole("cell", { name: "15" }).waitFor(); // not "…"
    assert.deepEqual(await calls.getByRole("cell").allTextContents(), ["5", "15", "+10"]);
  });

  test("links to the first different call", async (t) => {
    const page = await open(t, browser, server, "/compare?a=ends&b=loops");
    await page.getByRole("region", { name: "First difference" }).getByRole("link", { name: "search" }).click();
    await page.getByRole("complementary", { name: "Event" }).getByText("loops-8").first().waitFor();
  });
});

describe("what if", () => {
  const form = (page) => page.getByRole("form", { name: "What if" });
  const result = (page) => page.getByRole("region", { name: "Replay result" });

  test("begins with the recorded decisions of the recorded profile", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/what-if");
    await result(page).getByRole("heading", { name: /^First decision: event \d+ \(same as recorded\)$/ }).waitFor();
  });

  test("shows the decisions of another profile", async (t) => {
    const page = await open(t, browser, server, "/runs/loops");
    await page.getByRole("link", { name: "What if" }).click();
    await form(page).getByRole("combobox", { name: "Profile" }).selectOption("agentium");
    await form(page).getByRole("button", { name: "Replay" }).click();
    await result(page).getByRole("heading", { name: /^First decision: event \d+ \(\d+ events? (earlier|later) than recorded\)$/ }).waitFor();
    const answer = await server.post("/api/runs/loops/replay", '{"profile":"agentium"}');
    await result(page).getByRole("heading", { name: `Decisions` }).waitFor();
    await result(page).getByRole("link", { name: `event ${answer.decisions[0].event_number + 1}`, exact: true }).first().waitFor();
  });

  test("shows the decisions with changed settings, and names an invalid setting", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/what-if", { expect: [/422/] });
    const weight = form(page).getByRole("textbox", { name: "repeat_weight" });
    await weight.fill("40");
    await form(page).getByRole("button", { name: "Replay" }).click();
    await result(page).getByText("Replay: default, changed settings").waitFor(); // the server replays one run at a time
    const want = await server.post("/api/runs/loops/replay", '{"settings":{"repeat_weight":40}}');
    const recorded = await server.get("/api/runs/loops/decisions");
    assert.ok(want.decisions.length < recorded.length, "the threshold changes nothing");
    await result(page).getByRole("heading", { name: `Warnings ${want.warnings.length}` }).waitFor();
    await weight.fill("-1");
    await form(page).getByRole("button", { name: "Replay" }).click();
    await form(page).getByRole("alert").filter({ hasText: "repeat_weight is -1; it must be from" }).waitFor();
  });
});

describe("the waterfall", () => {
  const fall = (page) => page.getByRole("treegrid", { name: "Waterfall" });
  const named = (page, name) => fall(page).getByRole("row").filter({ hasText: name });
  const sent = server.post("/v1/traces", JSON.stringify(nestedSpans()));

  test("nests the agents and calls that spans name, with their durations", async (t) => {
    await sent;
    const [{ id }] = await server.get("/api/runs?text=planner");
    const page = await open(t, browser, server, `/runs/${id}`);
    await page.getByRole("link", { name: "Waterfall" }).click();
    await named(page, "write").last().waitFor();
    const rows = await fall(page).getByRole("row").evaluateAll((all) => all.map((r) => [r.ariaLevel, r.querySelector(".cut").textContent, r.querySelector(".took").textContent]));
    assert.deepEqual(rows.filter(([, name]) => name !== "run completed"), [
      ["1", "planner", "58 s"], ["2", "ask_researcher", "28 s"], ["3", "researcher", "22 s"], ["4", "search", "5.0 s"], ["4", "search", "5.0 s"], ["4", "search", "5.0 s"],
      ["1", "writer", "8.0 s"], ["2", "write", "8.0 s"],
    ]);
  });

  test("closes a branch, and opens a call beside it", async (t) => {
    await sent;
    const [{ id }] = await server.get("/api/runs?text=planner");
    const page = await open(t, browser, server, `/runs/${id}/waterfall`);
    await named(page, "ask_researcher").click();
    await page.getByRole("complementary", { name: "Event" }).getByRole("heading", { name: "ask_researcher" }).waitFor();
    await page.waitForURL(/waterfall\?event=/);
    await fall(page).getByRole("button", { name: "Collapse researcher" }).click();
    await named(page, /^\W*search/).first().waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Expand all" }).click();
    await named(page, /^\W*search/).first().waitFor();
    await fall(page).press("ArrowDown");
    await fall(page).press("ArrowDown");
    await page.getByRole("complementary", { name: "Event" }).getByRole("heading", { name: "search" }).waitFor();
  });

  test("leaves out the label at the end of the axis that has no room", async (t) => {
    const at = (seconds) => new Date(Date.UTC(2026, 4, 1, 12, 0, seconds)).toISOString();
    await server.send([["run_started", 0], ["message", 40], ["run_completed", 91]].map(([type, s]) => ({ event_id: type, run_id: "axis", type, role: "user", text: "hello", timestamp: at(s) })));
    const page = await open(t, browser, server, "/runs/axis/waterfall");
    await named(page, "hello").waitFor();
    const labels = await page.locator(".axis .scale").evaluate((scale) => [...scale.children].map((label) => [label.textContent, label.getBoundingClientRect().right <= scale.getBoundingClientRect().right]));
    assert.deepEqual(labels, [["0", true], ["30 s", true], ["1 min", true], ["", true]]);
  });

  test("draws a run without times in its order", async (t) => {
    const agent = new Agent("no-times");
    await server.send([...agent.begin(), ...agent.work(6)].map((e) => ({ ...e, timestamp: "2026-05-01T12:00:00Z", latency_ms: undefined })));
    const page = await open(t, browser, server, "/runs/no-times/waterfall");
    await page.getByText("The events have no times of their own.").waitFor();
  });
});

describe("a page that does not exist", () => {
  for (const path of ["/nowhere", "/runs/loops/nothing"]) {
    test(`${path} has the status 404 and a way back`, async (t) => {
      assert.equal((await fetch(server.url + path, { headers: { Accept: "text/html" } })).status, 404);
      const page = await open(t, browser, server, path, { expect: [/404/] });
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      await page.getByRole("link", { name: "Show all runs" }).click();
      await page.getByRole("grid", { name: "Runs" }).waitFor();
    });
  }

  test("of a run that does not exist says so, and searches for it", async (t) => {
    const page = await open(t, browser, server, "/runs/nobody", { expect: [/404/] });
    await page.getByRole("heading", { name: "Run not found" }).waitFor();
    await page.getByRole("link", { name: "Search the runs for this id" }).click();
    await page.waitForURL(/text=nobody/);
  });
});

describe("the graph", () => {
  test("shows the tools, and highlights those that loop", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/graph");
    const graph = page.getByRole("region", { name: "Run graph" });
    await graph.getByRole("button", { name: /search\W*12 calls\W.*loop/ }).waitFor();
    await graph.getByRole("button", { name: /read_file\W*3 calls$/ }).waitFor();
  });

  test("marks what the chosen warning names", async (t) => {
    const warned = await server.get("/api/runs/loops/warnings");
    const page = await open(t, browser, server, "/runs/loops/graph");
    const marked = page.getByRole("combobox", { name: "Marked warning" });
    await marked.waitFor();
    assert.equal(await marked.getByRole("option").count(), warned.length);
    await marked.selectOption(warned.find((w) => w.type === "same_call_same_result").warning_id);
    await page.getByRole("button", { name: /^search.*loop$/ }).waitFor();
    assert.equal(await page.getByRole("button", { name: /^read_file.*loop$/ }).count(), 0);
  });

  test("is enlarged and fitted again", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/graph");
    const picture = page.getByRole("region", { name: "Picture of the graph" }).locator("svg");
    const width = async () => (await picture.boundingBox()).width;
    await page.getByRole("button", { name: "Fit" }).waitFor();
    const fitted = await width();
    for (let i = 0; i < 4; i++) await page.getByRole("button", { name: "Zoom in" }).click();
    assert.ok((await width()) > fitted * 1.3, `${await width()} after ${fitted}`);
    await page.getByRole("button", { name: "Fit" }).click();
    assert.equal(await width(), fitted);
  });

  test("is saved as a picture that needs no style sheet", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/graph");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export SVG" }).click()]);
    assert.equal(download.suggestedFilename(), "loops-graph.svg");
    const text = await readFile(await download.path(), "utf8");
    assert.match(text, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.match(text, />search<\/text>/);
    assert.doesNotMatch(text, /class=|var\(/);
    assert.match(text, /fill="rgb\(/);
  });

  test("leads to the calls of a tool", async (t) => {
    const page = await open(t, browser, server, "/runs/loops/graph");
    await page.getByRole("button", { name: /^read_file/ }).click();
    await page.getByRole("status", { name: "Events shown" }).filter({ hasText: "3 entries of" }).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Tool" }).inputValue(), "read_file");
  });
});

describe("the node of a tool in the graph", () => {
  test("has a long name, the sign of a loop beside it, and the number of calls below them", async (t) => {
    const agent = new Agent("long-names");
    const names = ["first", "second"].map((n) => `mcp__${n}__${"W".repeat(40)}`);
    await server.send([...agent.begin(), ...[1, 2, 3, 4].flatMap(() => names.flatMap((n) => agent.call(n, {}, "the same")))]);
    const page = await open(t, browser, server, "/runs/long-names/graph");
    const node = page.getByRole("button", { name: /^mcp__first.*loop/ });
    await node.waitFor();
    const box = (part) => node.getByText(part).evaluate((e) => e.getBoundingClientRect().toJSON());
    const [whole, name, sign] = [await node.locator("rect").evaluate((e) => e.getBoundingClientRect().toJSON()), await node.locator("text").first().evaluate((e) => e.getBoundingClientRect().toJSON()), await box("loop")];
    assert.ok(name.right <= whole.right && sign.right <= whole.right, JSON.stringify({ whole, name, sign }));
    assert.ok(name.right <= sign.left, JSON.stringify({ name, sign }));
    await node.getByText("4 calls", { exact: true }).waitFor();
  });
});

describe("the rules", () => {
  test("are those of unloop explain, by profile", async (t) => {
    const known = await server.get("/api/rules");
    const page = await open(t, browser, server, "/rules");
    await page.getByText(`${known.length} rules`).waitFor();
    await page.getByRole("combobox", { name: "Profile" }).selectOption("cycles");
    const some = known.filter((r) => r.profiles.includes("cycles"));
    await page.getByText(some.length === 1 ? "1 rule" : `${some.length} rules`, { exact: true }).waitFor();
    await page.getByText(some[0].what).waitFor();
  });
});

describe("all pages", () => {
  test("are reached without a reload, and stay after one", async (t) => {
    const page = await open(t, browser, server, "/");
    const stays = await marked(page);
    for (const [name, heading] of [["Compare", "Compare two runs"], ["Overview", "Overview"], ["Rules", "Rules"], ["Runs", "Runs"]]) {
      await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }).click();
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    }
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
    assert.ok(await stays(), "the page was loaded again");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
  });

  test("that could not be loaded are loaded once the server answers again", async (t) => {
    const own = await Server.start(t);
    const page = await open(t, browser, own, "/rules", { expect: [/ERR_CONNECTION_REFUSED|Failed to fetch/] });
    await page.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
    await own.stop();
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Overview" }).click();
    await page.getByRole("alert").filter({ hasText: "The server does not respond" }).waitFor();
    await own.go();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  });

  test("say so where the server does not know what they ask for", async (t) => {
    const page = await open(t, browser, server, "/compare?a=nobody&b=loops", { expect: [/404/] });
    await page.getByRole("alert").filter({ hasText: "there is no run with this id" }).waitFor();
    await page.getByRole("button", { name: "Try again" }).waitFor();
  });
});
