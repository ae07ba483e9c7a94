// A run on its page: from a warning to the events that prove it, and back.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { inSight, launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

// A loop in the middle of much work, so that its last repeat is far out of sight at first.
const agent = new Agent("long", { name: "a long run" });
await server.send([...agent.begin(), ...agent.work(300), ...agent.loop(9), ...agent.work(300), ...agent.end()]);
const warnings = await server.get("/api/runs/long/warnings");
const warning = warnings.find((w) => w.type === "same_call_same_result");
assert.ok(warning, JSON.stringify(warnings));

const timelineOf = (page) => page.getByRole("treegrid", { name: "Timeline" });
const chosenOf = (page) => timelineOf(page).getByRole("row", { selected: true });
const drawerOf = (page) => page.getByRole("complementary", { name: "Event" });

/** eventsOf returns the ids of the events that the drawer shows. */
async function eventsOf(page) {
  return (await drawerOf(page).getByText(/^long-\d+(, long-\d+)?$/).textContent()).split(", ");
}

describe("a warning", () => {
  test("leads to its last repeat, which is highlighted and opened", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await timelineOf(page).getByText("src/part-0.go").waitFor();
    const card = page.getByRole("region", { name: "Warnings" }).getByRole("article", { name: "Same call same result" });
    await card.getByRole("button", { name: "Last repeat" }).click();
    await drawerOf(page).waitFor();
    assert.ok((await eventsOf(page)).includes(warning.event_id), `the drawer shows ${await eventsOf(page)}, not ${warning.event_id}`);
    await chosenOf(page).getByText("last repeat", { exact: true }).waitFor();
    assert.ok(await inSight(chosenOf(page), timelineOf(page)), "the last repeat is out of sight");
    await page.waitForURL(/event=long-\d+/);
  });

  test("is led to by a click anywhere on its card", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await page.getByRole("article", { name: "Same call same result" }).getByText(warning.message).click();
    await chosenOf(page).getByText("last repeat", { exact: true }).waitFor();
  });

  test("leads to where it began, and back to its last repeat", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    const card = page.getByRole("article", { name: "Same call same result" });
    await card.getByText(/^Events \d+ to \d+$/).waitFor();
    await card.getByRole("button", { name: "Where it began" }).click();
    await chosenOf(page).getByText("began here").waitFor();
    assert.ok((await eventsOf(page)).includes(warning.details.first_event_id), `${await eventsOf(page)}, not ${warning.details.first_event_id}`);
    assert.ok(await inSight(chosenOf(page), timelineOf(page)), "it is out of sight");
    await card.getByRole("button", { name: "Last repeat" }).click();
    await chosenOf(page).getByText("last repeat", { exact: true }).waitFor();
  });

  test("stands before the charts", async (t) => {
    for (const options of [{}, { viewport: { width: 390, height: 844 } }]) {
      const page = await open(t, browser, server, "/runs/long", options);
      const [card, chart] = [page.getByRole("article", { name: "Same call same result" }), page.getByRole("region", { name: "Charts" })];
      await chart.getByRole("heading", { name: "Novelty" }).waitFor();
      assert.ok((await card.boundingBox()).y < (await chart.boundingBox()).y, "the charts are above the warnings");
    }
  });

  test("leads through its evidence, repeat by repeat", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    const card = page.getByRole("article", { name: "Same call same result" });
    const ids = warning.details.evidence.map((e) => e.event_id);
    assert.ok(ids.length >= 3, `evidence ${ids}`);
    await card.getByRole("button", { name: "Last repeat" }).click();
    await drawerOf(page).waitFor();
    for (let at = ids.length - 2; at >= 0; at--) {
      await card.getByRole("button", { name: "Previous repeat" }).click();
      await card.getByText(`${at + 1} of ${ids.length}`).waitFor();
      assert.ok((await eventsOf(page)).includes(ids[at]), `${await eventsOf(page)} at step ${at + 1}, not ${ids[at]}`);
    }
    assert.ok(await card.getByRole("button", { name: "Previous repeat" }).isDisabled(), "there is nothing before the first repeat");
    await card.getByRole("button", { name: "Next repeat" }).click();
    await card.getByText(`2 of ${ids.length}`).waitFor();
  });
});

describe("an event", () => {
  for (const [name, address] of [["query", `?event=${warning.event_id}`], ["fragment", `#event=${warning.event_id}`]]) {
    test(`is opened by a link that names it in its ${name}`, async (t) => {
      const page = await open(t, browser, server, `/runs/long${address}`);
      await drawerOf(page).waitFor();
      assert.ok((await eventsOf(page)).includes(warning.event_id));
      await chosenOf(page).waitFor();
      assert.ok(await inSight(chosenOf(page), timelineOf(page)), "it is out of sight");
    });
  }

  test("is said to be none where the run has no such event", async (t) => {
    const page = await open(t, browser, server, "/runs/long?event=of-another-run");
    await page.getByText("This run has no event of-another-run.").waitFor();
    await page.getByRole("button", { name: "Last repeat" }).first().click();
    await drawerOf(page).waitFor();
    assert.equal(await page.getByText("This run has no event").count(), 0);
  });

  test("is shown with what is another than in the repeat before it", async (t) => {
    const page = await open(t, browser, server, `/runs/long?event=${warning.event_id}`);
    const drawer = drawerOf(page);
    await drawer.getByRole("heading", { name: "Difference from the previous repeat" }).waitFor();
    await drawer.getByText(/the same arguments, the same result except for times/).waitFor();
    const lines = await drawer.getByText(/^[+-] .*"took": "\d+ ms"/).allTextContents();
    assert.equal(lines.length, 2, `lines ${lines}`);
  });

  test("can be copied as JSON", async (t) => {
    const page = await open(t, browser, server, `/runs/long?event=${warning.event_id}`, { permissions: ["clipboard-read", "clipboard-write"] });
    await drawerOf(page).getByRole("button", { name: "Copy JSON" }).click();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    const ids = [copied].flat().map((e) => e.event_id);
    assert.ok(ids.includes(warning.event_id), `copied ${ids}`);
  });
});

describe("a chosen event", () => {
  test("is in sight and in the address again after another view", async (t) => {
    const page = await open(t, browser, server, `/runs/long?event=${warning.event_id}`);
    await drawerOf(page).waitFor();
    const views = page.getByRole("navigation", { name: "Views of this run" });
    for (const back of [() => views.getByRole("link", { name: "Timeline" }).click(), () => page.goBack()]) {
      await views.getByRole("link", { name: "Graph" }).click();
      await page.getByRole("region", { name: "Run graph" }).waitFor();
      await back();
      await page.waitForURL(new RegExp(`event=${warning.event_id}$`));
      await chosenOf(page).waitFor();
      assert.ok(await inSight(chosenOf(page), timelineOf(page)), "it is out of sight");
    }
  });
});

describe("a run", () => {
  test("that is over is not called live", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await page.getByRole("status", { name: "Events shown" }).filter({ hasText: "1,220 events" }).waitFor();
    await page.getByText("completed", { exact: false }).first().waitFor();
    assert.equal(await page.getByRole("status", { name: "Connection" }).count(), 0);
    assert.equal(await page.getByRole("checkbox", { name: "Follow live" }).count(), 0);
  });

  test("has an id that can be copied, and so has each event", async (t) => {
    const page = await open(t, browser, server, `/runs/long?event=${warning.event_id}`, { permissions: ["clipboard-read", "clipboard-write"] });
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await page.getByRole("region", { name: "Run summary" }).getByRole("button", { name: "Copy id" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await copied(), "long");
    await drawerOf(page).getByRole("button", { name: "Copy id" }).click();
    await drawerOf(page).getByRole("button", { name: "Copied" }).waitFor();
    assert.ok((await copied()).includes(warning.event_id), await copied());
  });

  for (const [where, path] of [["on its page", "/runs/long-name"], ["beside another", "/compare?a=long-name&b=long"]]) {
    test(`of a long name is no wider than a phone, ${where}`, async (t) => {
      const long = new Agent("long-name", { name: "x".repeat(200) });
      await server.send([...long.begin(), ...long.work(2)]);
      const page = await open(t, browser, server, path, { viewport: { width: 390, height: 844 } });
      const name = page.getByRole("heading", { name: "x".repeat(200) });
      await name.waitFor();
      const { x, width } = await name.boundingBox();
      assert.ok(x + width <= 390, `it ends at ${x + width}`);
    });
  }

  test("of many agents has a dot for each who acts", async (t) => {
    const many = Array.from({ length: 12 }, (_, n) => ({ agent: `agent-${n}` }));
    const team = new Agent("team");
    await server.send(many.flatMap((who) => team.work(1).map((e) => ({ ...e, ...who }))));
    const page = await open(t, browser, server, "/runs/team");
    const last = timelineOf(page).getByRole("row").filter({ hasText: "agent-11" });
    await last.waitFor();
    assert.equal(await last.locator(".here").count(), 1);
  });

  test("has charts whose numbers are not cut", async (t) => {
    const round = new Agent("round");
    await server.send([...round.begin(), ...round.work(100)]);
    const page = await open(t, browser, server, "/rules");
    await page.addInitScript(() => {
      window.drawn = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, ...more) {
        const { a, e } = this.getTransform();
        const wide = this.measureText(text).width;
        const end = { left: wide, start: wide, center: wide / 2 }[this.textAlign] ?? 0;
        window.drawn.push({ text, over: a * (x + end) + e - this.canvas.width });
        fillText.call(this, text, x, ...more);
      };
    });
    await page.goto(`${server.url}/runs/round`);
    await page.getByText("100 of 100 steps had a new result.").waitFor();
    await page.waitForFunction(() => ["100", "200"].every((n) => window.drawn.some((d) => d.text === n)));
    assert.deepEqual(await page.evaluate(() => window.drawn.filter((d) => d.over > 0)), []);
  });
});

describe("on a phone, an event", () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
  const sheetOf = (page) => page.getByRole("dialog", { name: "Event" });

  test("is a sheet over the page, which keeps the focus and gives it back", async (t) => {
    const page = await open(t, browser, server, "/runs/long", phone);
    const button = page.getByRole("article", { name: "Same call same result" }).getByRole("button", { name: "Last repeat" });
    await button.click();
    await sheetOf(page).waitFor();
    const { x, y, width, height } = await sheetOf(page).boundingBox();
    assert.deepEqual({ x, y, width, height }, { x: 0, y: 0, ...phone.viewport });
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      const out = await page.evaluate(() => document.activeElement !== document.body && !document.activeElement.closest("dialog"));
      assert.ok(!out, `the focus has left the sheet with Tab ${i + 1}`);
    }
    await sheetOf(page).getByRole("button", { name: "Close" }).click();
    await sheetOf(page).waitFor({ state: "detached" });
    assert.ok(await button.evaluate((b) => b === document.activeElement), "the focus is not where it was");
  });

  test("is left with Escape, to the timeline where nothing else had the focus", async (t) => {
    const page = await open(t, browser, server, `/runs/long?event=${warning.event_id}`, phone);
    await sheetOf(page).getByText(warning.event_id).first().waitFor();
    await page.keyboard.press("Escape");
    await sheetOf(page).waitFor({ state: "detached" });
    assert.ok(await timelineOf(page).evaluate((b) => b === document.activeElement), "the timeline does not have the focus");
    await page.waitForURL((url) => !url.search.includes("event="));
  });
});

describe("the timeline", () => {
  const short = new Agent("short");
  const begun = server.send([...short.begin(), ...short.work(3), ...short.loop(9), ...short.end()]);

  test("collapses repeats, and expands them", async (t) => {
    await begun;
    const page = await open(t, browser, server, "/runs/short");
    const repeat = timelineOf(page).getByRole("row").filter({ hasText: "× 9" });
    await repeat.waitFor();
    assert.match(await repeat.textContent(), /same result/);
    const calls = timelineOf(page).getByText("why do loops loop", { exact: true });
    assert.ok((await calls.count()) < 9, "the repeat is not collapsed");
    await repeat.click();
    await calls.nth(8).waitFor();
    await repeat.click();
    await calls.nth(8).waitFor({ state: "detached" });
  });

  test("shows where the policy decided", async (t) => {
    await begun;
    const page = await open(t, browser, server, "/runs/short");
    await timelineOf(page).getByRole("row").filter({ hasText: "× 9" }).click();
    const decisions = await server.get("/api/runs/short/decisions");
    assert.ok(decisions.length > 0, "nothing was decided");
    const words = { warn: "nudged", block: "blocked", halt: "halted" };
    for (const action of new Set(decisions.map((d) => d.action))) {
      await timelineOf(page).getByRole("row").filter({ hasText: new RegExp(`^\\W*Would have ${words[action]} `) }).first().waitFor();
    }
  });

  test("opens a decision with its whole message", async (t) => {
    await begun;
    const page = await open(t, browser, server, "/runs/short");
    const [first] = await server.get("/api/runs/short/decisions");
    await timelineOf(page).getByRole("row").filter({ hasText: first.message.slice(0, 40) }).first().click();
    await drawerOf(page).getByText(first.message.split("\n").at(-1)).first().waitFor();
  });

  test("leaves out columns that have nothing to say, and uses their width", async (t) => {
    const agent = new Agent("untimed");
    const events = [...agent.begin(), ...agent.work(9)].map((e) => ({ ...e, timestamp: "2026-05-01T12:00:00Z", latency_ms: undefined }));
    await server.send(events);
    const width = async (run, row) => {
      const page = await open(t, browser, server, `/runs/${run}`);
      return (await timelineOf(page).getByText(row).locator("xpath=ancestor::*[@role='gridcell']").boundingBox()).width;
    };
    const [with_, without] = [await width("long", "src/part-3.go"), await width("untimed", "src/part-3.go")];
    assert.ok(without > with_ + 20, `${without} is not wider than ${with_}`);
  });

  test("shows only what is searched for", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await page.getByRole("searchbox", { name: "Search events" }).fill("part-42.go");
    await page.getByRole("status", { name: "Events shown" }).filter({ hasText: "1 entry of 1,220 events" }).waitFor();
    await page.getByRole("button", { name: "Show all" }).click();
    await timelineOf(page).getByText("src/part-1.go", { exact: true }).waitFor();
  });
});

describe("the keyboard", () => {
  test("walks through the runs and opens one", async (t) => {
    await server.send(new Agent("other", { start: Date.UTC(2026, 4, 2) }).begin());
    const page = await open(t, browser, server, "/");
    await page.getByRole("link", { name: "a long run" }).waitFor();
    const names = await page.getByRole("grid", { name: "Runs" }).getByRole("link").allTextContents();
    assert.equal(names[0], "other", "the latest comes first");
    for (let i = 0; i <= names.indexOf("a long run") + 1; i++) await page.keyboard.press(i <= names.indexOf("a long run") ? "j" : "k");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "a long run" }).waitFor();
  });

  test("walks through a run, from warning to warning and from repeat to repeat", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await timelineOf(page).getByText("src/part-0.go").waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await chosenOf(page).getByText("src/part-0.go").waitFor();
    await page.keyboard.press("k");
    await chosenOf(page).getByText("Run started").waitFor();
    await page.keyboard.press("w");
    await chosenOf(page).getByText("last repeat", { exact: true }).waitFor();
    const [culprit] = await eventsOf(page);
    await page.keyboard.press("p");
    await drawerOf(page).getByText(culprit).waitFor({ state: "detached" });
    const [before] = await eventsOf(page);
    assert.ok(Number(before.slice(5)) < Number(culprit.slice(5)), `${before} comes before ${culprit}`);
    await page.keyboard.press("n");
    await drawerOf(page).getByText(culprit).waitFor();
    await page.keyboard.press("Escape");
    await drawerOf(page).waitFor({ state: "detached" });
  });

  test("lists its shortcuts, and searches", async (t) => {
    const page = await open(t, browser, server, "/");
    await page.getByRole("link", { name: "a long run" }).waitFor();
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    await page.keyboard.type("nothing like it");
    await page.getByText("No matching runs.").waitFor();
  });

  test("reaches everything on the page, in order", async (t) => {
    const page = await open(t, browser, server, "/runs/long");
    await timelineOf(page).getByText("src/part-0.go").waitFor();
    const reached = [];
    for (let i = 0; i < 45; i++) {
      await page.keyboard.press("Tab");
      const name = (e) => `${e.getAttribute("role") ?? e.tagName.toLowerCase()} ${e.getAttribute("aria-label") ?? e.textContent.trim().split("\n")[0]}`;
      reached.push(await page.evaluate(`(${name})(document.activeElement ?? document.body)`));
    }
    const order = ["a Skip to content", "a Runs", "a Graph", "button Where it began", "button Last repeat", "input Search events", "treegrid Timeline"];
    const places = order.map((name) => reached.indexOf(name));
    assert.ok(places.every((at, i) => at > (places[i - 1] ?? -1)), `${order} at ${places} in ${reached}`);
  });
});

// It is the last, since its run is the latest in the list.
describe("a trace without times", () => {
  test("names no time for an event of a trace without times", async (t) => {
    const untimed = new Agent("no-times");
    await server.send([...untimed.begin(), ...untimed.work(3)].map((e) => ({ ...e, timestamp: undefined })));
    const page = await open(t, browser, server, "/runs/no-times");
    await timelineOf(page).getByText("src/part-1.go", { exact: true }).click();
    await drawerOf(page).getByText("Event", { exact: true }).waitFor();
    assert.equal(await drawerOf(page).getByText("Time", { exact: true }).count(), 0);
  });
});
