// The list of runs: views, order, filters, search.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { inSight, launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

// 240 runs that work, 3 that loop, and one that failed. One has metadata, one a word that no other has.
const now = Date.now();
const events = [];
for (let i = 0; i < 240; i++) {
  const agent = new Agent(`works-${i}`, { name: `works ${i}`, project: i % 2 ? "shop" : "blog", agent: i === 7 ? "reviewer" : "coder", start: now - (i + 10) * 60_000 });
  events.push(...agent.begin(), ...agent.work(1 + (i % 5)), ...agent.end());
}
for (let i = 0; i < 3; i++) {
  const agent = new Agent(`loops-${i}`, { name: `loops ${i}`, project: "shop", start: now - (i + 1) * 3_600_000 });
  events.push(...agent.begin(), ...agent.loop(6 + i));
}
const broken = new Agent("broken", { name: "broken", start: now - 5_000_000 });
events.push(...broken.begin(), ...broken.call("compile", {}, new Error("linker: undefined reference to Zanzibar")), broken.event("llm_call_completed", { model: "m-1", cost: 0.5 }), ...broken.end("run_failed"));
await server.post("/api/runs", JSON.stringify({ id: "works-9", name: "works 9", project: "shop", metadata: { prompt: "v2" } }));
await server.send(events);

const grid = (page) => page.getByRole("grid", { name: "Runs" });
const names = (page) => grid(page).getByRole("link").allTextContents();
const total = (page, n) => page.getByText(`${n} runs`, { exact: true }).or(page.getByText(`${n} run`, { exact: true })).waitFor();
const views = (page) => page.getByRole("navigation", { name: "Views" });

describe("the list of runs", () => {
  test("tells how many there are, and shows 24 of them on a laptop", async (t) => {
    const page = await open(t, browser, server, "/");
    await total(page, 244);
    const rows = grid(page).getByRole("row");
    await rows.nth(24).waitFor();
    assert.ok(await inSight(rows.nth(24), grid(page)), "the 24th row is cut off"); // the first one is the head
  });

  test("has no column for a project that all runs have, and its heads are over their columns", async (t) => {
    const page = await open(t, browser, server, "/?project=shop");
    const cell = grid(page).getByRole("gridcell", { name: "completed", exact: true }).first();
    await cell.waitFor();
    assert.equal(await page.getByRole("columnheader", { name: "Project" }).count(), 0);
    const [head, below] = await Promise.all([page.getByRole("columnheader", { name: "Status" }).boundingBox(), cell.boundingBox()]);
    assert.equal(Math.round(head.x), Math.round(below.x));
  });

  test("has no columns for warnings and decisions that no run has, and gives their width to the names", async (t) => {
    const page = await open(t, browser, server, "/?project=shop");
    const head = (name) => grid(page).getByRole("columnheader", { name });
    await head("Warnings").waitFor();
    const before = (await head("Run").boundingBox()).width;
    for (const width of [1440, 1280, 1100]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${server.url}/?project=blog`);
      await grid(page).getByRole("link").first().waitFor();
      assert.equal(await head("Warnings").count(), 0);
      assert.equal(await head("Decision").count(), 0);
      const [status, below] = await Promise.all([head("Status").boundingBox(), grid(page).getByRole("gridcell", { name: "completed", exact: true }).first().boundingBox()]);
      assert.equal(Math.round(status.x), Math.round(below.x));
      assert.ok((await head("Run").boundingBox()).width > before, "the names have no more room");
    }
  });

  test("has a view of looping runs first", async (t) => {
    const page = await open(t, browser, server, "/");
    const first = views(page).getByRole("link").first();
    await first.getByText("3", { exact: true }).waitFor();
    assert.equal((await first.textContent()).trim().replace(/\W+/, " "), "Looping 3");
    await first.click();
    await total(page, 3);
    assert.deepEqual(await names(page), ["loops 0", "loops 1", "loops 2"]);
    assert.equal(await first.getAttribute("aria-current"), "page");
    await page.reload();
    await total(page, 3);
  });

  test("shows a run that begins to loop in the view of looping runs", async (t) => {
    const page = await open(t, browser, server, "/?decision=warn,block,halt");
    await total(page, 3);
    const agent = new Agent("new-loop", { name: "new loop", start: Date.now() });
    await server.send([...agent.begin(), ...agent.loop(8)]);
    t.after(() => fetch(`${server.url}/api/runs/new-loop`, { method: "DELETE" }));
    await grid(page).getByRole("link", { name: "new loop" }).waitFor();
    await total(page, 4);
  });

  test("is sorted by a column, both ways, and stays so after a reload", async (t) => {
    const page = await open(t, browser, server, "/");
    const head = (name) => grid(page).getByRole("columnheader", { name });
    await head("Events").getByRole("button").click();
    await grid(page).getByRole("row").nth(1).filter({ hasText: "loops 2" }).waitFor();
    assert.equal(await head("Events").getAttribute("aria-sort"), "descending");
    await head("Run").getByRole("button").click();
    await grid(page).getByRole("row").nth(1).filter({ hasText: "broken" }).waitFor();
    await head("Run").getByRole("button").click();
    await page.waitForURL(/sort=name/);
    await grid(page).getByRole("row").nth(1).filter({ hasText: "works 99" }).waitFor();
    await page.reload();
    await grid(page).getByRole("row").nth(1).filter({ hasText: "works 99" }).waitFor();
  });

  test("is sorted by novelty and by tools, those that repeat most first", async (t) => {
    const page = await open(t, browser, server, "/", { viewport: { width: 1700, height: 900 } });
    const head = (name) => grid(page).getByRole("columnheader", { name });
    const first = (text) => grid(page).getByRole("row").nth(1).filter({ hasText: text }).waitFor();
    await head("Novelty").getByRole("button").click();
    await page.waitForURL(/sort=novelty&order=asc/);
    await first("loops 2");
    await first("Same call same result"); // the rule of its warning
    await head("Tools").getByRole("button").click();
    await page.waitForURL(/sort=tool&order=asc/);
    await first("compile");
    await head("Tools").getByRole("button").click();
    await first("search");
  });

  for (const width of [1010, 1170, 1180, 1310]) {
    test(`shows the whole of its last column at ${width} pixels`, async (t) => {
      const page = await open(t, browser, server, "/", { viewport: { width, height: 900 } });
      const row = grid(page).getByRole("row").nth(1);
      await row.waitFor();
      const [cell, list] = await Promise.all([row.getByRole("gridcell").filter({ visible: true }).last().boundingBox(), grid(page).boundingBox()]);
      assert.ok(cell.x + cell.width <= list.x + list.width, `the last cell ends at ${cell.x + cell.width}, the list at ${list.x + list.width}`);
    });
  }

  test("loads further pages in its order", async (t) => {
    const page = await open(t, browser, server, "/?sort=name&order=asc");
    await total(page, 244);
    await grid(page).hover();
    for (let i = 0; i < 60 && (await grid(page).getAttribute("aria-rowcount")) !== "244"; i++) {
      await page.mouse.wheel(0, 4000);
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await page.mouse.wheel(0, 20_000);
    await grid(page).getByRole("link", { name: "works 99" }).waitFor();
  });

  test("colors only what is wrong", async (t) => {
    const page = await open(t, browser, server, "/?text=works");
    await total(page, 240);
    const row = grid(page).getByRole("row").nth(1);
    const grey = await row.evaluate((e) =>
      [...e.querySelectorAll("span, a")].every((part) => {
        const [r, g, b] = getComputedStyle(part).color.match(/\d+/g).map(Number);
        return Math.max(r, g, b) - Math.min(r, g, b) < 40;
      }),
    );
    assert.ok(grey, "a healthy run has a color");
  });
});

describe("the filters", () => {
  const dialog = (page) => page.getByRole("dialog", { name: "Filters" });

  test("are chosen in a dialog, shown, and removed one by one", async (t) => {
    const page = await open(t, browser, server, "/");
    await total(page, 244);
    await page.getByRole("button", { name: "Filters" }).click();
    await dialog(page).getByRole("combobox", { name: "Agent" }).fill("reviewer");
    await page.waitForURL(/agent=reviewer/);
    await dialog(page).getByRole("combobox", { name: "Decision" }).selectOption("allow");
    await dialog(page).getByRole("button", { name: "Show runs" }).click();
    await total(page, 1);
    assert.deepEqual(await names(page), ["works 7"]);
    const active = page.getByRole("list", { name: "Active filters" });
    assert.deepEqual(await active.getByRole("listitem").locator("span").allTextContents(), ["Decision: None", "Agent: reviewer"]);
    await active.getByRole("button", { name: "Remove the filter Agent: reviewer" }).click();
    await total(page, 241);
    await page.getByRole("button", { name: "Clear" }).click();
    await total(page, 244);
  });

  for (const [name, query, want] of [
    ["a model", "model=m-1", ["broken"]],
    ["a member of the metadata", "metadata=prompt%3Dv2", ["works 9"]],
    ["health", "health=stuck&sort=name&order=asc", ["loops 0", "loops 1", "loops 2"]],
    ["a rule", "warning=same_call_same_result&sort=name", ["loops 2", "loops 1", "loops 0"]],
    ["a tool and a project", "tool=search&project=shop&sort=name&order=asc", ["loops 0", "loops 1", "loops 2"]],
    ["a guard", "guard=guarded", []],
  ]) {
    test(`choose runs by ${name}`, async (t) => {
      const page = await open(t, browser, server, `/?${query}`);
      await page.getByText(want.length === 1 ? "1 run" : `${want.length} runs`, { exact: true }).waitFor();
      assert.deepEqual(want.length ? await names(page) : [], want);
    });
  }

  test("are a sheet on a phone, where each run has its status below its name", async (t) => {
    const page = await open(t, browser, server, "/", { viewport: { width: 390, height: 844 }, hasTouch: true });
    await total(page, 244);
    await grid(page).getByRole("row").nth(1).getByText(/^completed · .* · (blog|shop)$/).waitFor();
    assert.equal(await page.getByRole("combobox", { name: "Status" }).count(), 0);
    await page.getByRole("button", { name: "Filters" }).click();
    const box = await dialog(page).boundingBox();
    assert.ok(box.width === 390 && Math.abs(box.y + box.height - 844) < 1, JSON.stringify(box));
    await dialog(page).getByRole("combobox", { name: "Status" }).selectOption("failed");
    await dialog(page).getByRole("button", { name: "Show runs" }).click();
    await total(page, 1);
  });

  test("are kept as a view of the reader's own", async (t) => {
    const page = await open(t, browser, server, "/?project=shop&sort=events");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("textbox", { name: "Name of the view" }).fill("Long ones of the shop");
    await page.keyboard.press("Enter");
    await views(page).getByRole("link", { name: "All", exact: true }).click();
    await total(page, 244);
    await page.reload();
    await views(page).getByRole("link", { name: "Long ones of the shop" }).click();
    await total(page, 123);
    await page.waitForURL(/project=shop&sort=events/);
    await views(page).getByRole("button", { name: "Remove the view Long ones of the shop" }).click();
    assert.equal(await views(page).getByRole("link", { name: "Long ones of the shop" }).count(), 0);
  });
});

describe("the search", () => {
  /** indexed waits until the server has indexed an event with the word. */
  async function indexed(word) {
    for (let i = 0; i < 600; i++) {
      if ((await server.get(`/api/runs?text=${word}`)).length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`no event with ${word} is found`);
  }

  for (const [name, text, want] of [
    ["words of an event, in any order", "zanzibar undefined", "broken"],
    ["the title of a rule", "same call same result", "loops 0"],
    ["the name of an agent", "reviewer", "works 7"],
    ["the name of a model", "M-1", "broken"],
    ["the name of a tool", "compile", "broken"],
  ]) {
    test(`finds ${name}`, async (t) => {
      await indexed("zanzibar");
      const page = await open(t, browser, server, "/");
      await page.getByRole("searchbox", { name: "Search runs" }).fill(text);
      await page.waitForURL(/text=/);
      await grid(page).getByRole("link", { name: want, exact: true }).waitFor();
      await grid(page).getByRole("link", { name: "works 0", exact: true }).waitFor({ state: "detached" });
    });
  }

  test("says if nothing matches", async (t) => {
    const page = await open(t, browser, server, "/?text=atlantis");
    await page.getByText("No matching runs").waitFor();
    await total(page, 0);
    await page.getByRole("link", { name: "Show all runs" }).click();
    await total(page, 244);
  });
});

describe("the id of a run that is too long", () => {
  const ids = ["checks-of-the-nightly-evaluation-on-every-branch-10012", "checks-of-the-nightly-evaluation-on-every-branch-10013"];

  for (const width of [1440, 1280, 820, 390]) {
    test(`keeps its end in sight at ${width} pixels`, async (t) => {
      const own = await Server.start(t);
      await own.send(ids.flatMap((id) => [...new Agent(id).begin(), ...new Agent(id).loop(6)]));
      const page = await open(t, browser, own, "/", { viewport: { width, height: 800 } });
      for (const id of ids) {
        const link = grid(page).getByRole("link", { name: id, exact: true });
        const [cell, end] = await Promise.all([link.locator("xpath=..").boundingBox(), link.getByText(id.slice(-5)).last().boundingBox()]);
        assert.ok(end.width > 20 && end.x >= cell.x && end.x + end.width <= cell.x + cell.width + 1, "the end is cut off");
      }
    });
  }
});

test("a long name has two lines on a phone, within its row", async (t) => {
  const server = await Server.start(t);
  const name = "Find the slow query behind the report of the month, and say why it is slow";
  await server.send([{ event_id: "e1", run_id: "slow-query", sequence: 1, type: "run_started", name }]);
  const page = await open(t, browser, server, "/", { viewport: { width: 390, height: 844 }, hasTouch: true });
  const link = page.getByRole("link", { name });
  const line = 20; // pixels
  const box = await link.boundingBox();
  assert.ok(box.height >= 2 * line - 2 && box.height <= 2 * line + 6, JSON.stringify(box));
  assert.ok(await inSight(link, page.getByRole("row").nth(1)));
});
