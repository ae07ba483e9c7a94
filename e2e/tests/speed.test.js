// How fast it is, measured in the browser. The figures are printed; docs/benchmarks.md has those of a machine with nothing else to do.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

/** How many times slower than what is promised a busy machine may be, until a test says that something is wrong. */
const slowest = 10;

const figures = [];
after(() => figures.forEach((line) => console.log(`  ${line}`)));

/** quantile returns the value below which a part of the values lies. */
function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(Math.floor(sorted.length * part), sorted.length - 1)];
}

/** watchFirst notes, from the very beginning of a page, when something matching a selector is first painted. */
function watchFirst(selector) {
  window.firstAt = new Promise((resolve) => {
    const look = () => (document.querySelector(selector) ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look));
    look();
  });
}

/** firstPaint returns when the page first showed anything, which the browser tells a moment later. */
function firstPaint() {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").forEach((e) => resolve(e.startTime))).observe({ type: "paint", buffered: true });
  });
}

const long = new Agent("hundred-thousand", { name: "a run of 100,000 events" });
const events = [...long.begin()];
while (events.length < 99_900) events.push(...long.work(20), ...long.loop(5));
events.push(...long.work(50));
await server.send(events.slice(0, 100_000));

describe("a run of 100,000 events", () => {
  test("is painted within a second", async (t) => {
    const first = [];
    const painted = [];
    for (let round = 0; round < 3; round++) {
      const page = await open(t, browser, server, "/rules"); // the program and the server are warm
      await page.addInitScript(watchFirst, '[role="treegrid"] [role="row"]');
      await page.goto(`${server.url}/runs/hundred-thousand`);
      first.push(await page.evaluate(() => window.firstAt));
      painted.push(await page.evaluate(firstPaint));
      if (round === 0) {
        await page.getByRole("status", { name: "Events shown" }).filter({ hasText: "100,000 events" }).waitFor({ timeout: 60_000 });
        figures.push(`100,000 events: all on the page after ${Math.round(await page.evaluate(() => performance.now()))} ms`);
      }
      await page.context().close();
    }
    figures.push(`100,000 events: first contentful paint ${painted.map(Math.round).join(", ")} ms; first rows ${first.map(Math.round).join(", ")} ms`);
    assert.ok(Math.min(...painted) < slowest * 1000, `first contentful paint after ${painted} ms`);
    assert.ok(Math.min(...first) < slowest * 1000, `first rows after ${first} ms`);
  });

  test("shows how its health went from its first event on", async (t) => {
    const page = await open(t, browser, server, "/runs/hundred-thousand");
    const { health } = await server.get("/api/runs/hundred-thousand");
    const fell = health.find((p) => p.health_score < 80);
    await page.getByText(`Below 80 from event ${fell.event_number + 1}.`).waitFor({ timeout: 60_000 });
    await page.getByRole("img", { name: /^Health over the events of the run/ }).waitFor();
  });

  test("is scrolled without blank frames", async (t) => {
    const page = await open(t, browser, server, "/runs/hundred-thousand");
    await page.getByRole("status", { name: "Events shown" }).filter({ hasText: "100,000 events" }).waitFor({ timeout: 60_000 });
    const { frames, blank, longest, p95, rows } = await page.evaluate(scroll, '[role="treegrid"]');
    figures.push(`100,000 events, scrolled from end to end (${rows} rows in the document): ${frames} frames, ${blank} blank, 95 % within ${Math.round(p95)} ms, the longest ${Math.round(longest)} ms`);
    assert.equal(blank, 0, `${blank} of ${frames} frames had a blank stretch`);
    assert.ok(rows < 200, `${rows} rows are in the document`);
    assert.ok(p95 < slowest * 100, `95 % of the frames took up to ${p95} ms`);
  });
});

/**
 * scroll goes through a list in leaps, slow and fast, and looks at each frame, when the page has done its work for it, whether every
 * place of the list's box shows a row.
 */
async function scroll(selector) {
  const box = document.querySelector(selector);
  const most = box.scrollHeight - box.clientHeight;
  const { left, top, width, height } = box.getBoundingClientRect();
  const frame = () => new Promise(requestAnimationFrame);
  const isBlank = () => {
    for (let y = top + 40; y < top + height - 4; y += 16) {
      const hit = document.elementFromPoint(left + width / 3, y)?.closest('[role="row"]');
      if (!hit || hit.textContent.trim() === "") return true;
    }
    return false;
  };
  const times = [];
  let blank = 0;
  let at = await frame();
  for (let n = 0; n < 240; n++) {
    const part = n / 239;
    box.scrollTop = n % 60 < 30 ? most * part : box.scrollTop + 700; // leaps, and a fast wheel
    const next = await frame();
    times.push(next - at);
    at = next;
    if (isBlank()) blank += 1;
  }
  times.sort((a, b) => a - b);
  return { frames: times.length, blank, longest: times.at(-1), p95: times[Math.floor(times.length * 0.95)], rows: document.querySelectorAll('[role="row"]').length };
}

describe("an event", () => {
  for (const [name, before, promised] of [["a run of 200", 200, slowest * 150], ["a run of 100,000", 0, Infinity]]) {
    test(`is seen soon after it was acknowledged, in ${name} events`, async (t) => {
      const id = before ? "watched" : "hundred-thousand";
      const agent = before ? new Agent(id) : long;
      if (before) await server.send([...agent.begin(), ...agent.work(before / 2)]);
      const page = await open(t, browser, server, `/runs/${id}`);
      await page.getByRole("status", { name: "Events shown" }).filter({ hasText: before ? "201 events" : /^100,\d+ events$/ }).waitFor({ timeout: 60_000 });
      await page.getByRole("checkbox", { name: "Follow live" }).check();
      const lines = Array.from({ length: before ? 100 : 20 }, (_, i) => [`message ${i} of ${id}`, JSON.stringify(agent.say("assistant", `message ${i} of ${id}`)[0])]);
      const waits = await page.evaluate(tellAndSee, lines);
      figures.push(`${name} events: acknowledged to painted, median ${Math.round(quantile(waits, 0.5))} ms, 95 % within ${Math.round(quantile(waits, 0.95))} ms, of ${waits.length}`);
      assert.ok(quantile(waits, 0.95) < promised, `95 % within ${quantile(waits, 0.95)} ms`);
    });
  }
});

/** tellAndSee sends events one after another, and returns how long after its answer each is on the screen, in milliseconds. */
async function tellAndSee(lines) {
  const list = document.querySelector('[role="treegrid"]');
  const frame = () => new Promise(requestAnimationFrame);
  const waits = [];
  for (const [text, body] of lines) {
    const answer = await fetch("/api/events", { method: "POST", body, headers: { "Content-Type": "application/json" } });
    if (!answer.ok) throw new Error(await answer.text());
    const acknowledged = performance.now();
    for (;;) {
      const at = await frame();
      if (list.textContent.includes(text)) {
        waits.push(Math.max(at - acknowledged, 0) + 16); // it is painted with the next frame
        break;
      }
      if (at - acknowledged > 60_000) throw new Error(`${text} was not seen within a minute`);
    }
    for (let n = Math.floor(Math.random() * 12); n > 0; n--) await frame(); // not in step with anything
  }
  return waits;
}

describe("10,000 runs", () => {
  test("are scrolled without blank frames", async (t) => {
    const many = await Server.start(t);
    await many.send(Array.from({ length: 10_000 }, (_, i) => new Agent(`run-${i}`, { start: Date.UTC(2026, 4, 1) + i * 1000 }).begin()).flat());
    const page = await open(t, browser, many, "/");
    const grid = page.getByRole("grid", { name: "Runs" });
    await grid.getByText("run-9999", { exact: true }).waitFor();
    await page.evaluate(async () => {
      const box = document.querySelector('[role="grid"]');
      for (let tries = 0; tries < 3000 && Number(box.getAttribute("aria-rowcount")) < 10_000; tries++) {
        box.scrollTop = box.scrollHeight;
        await new Promise(requestAnimationFrame);
      }
    });
    assert.equal(await grid.getAttribute("aria-rowcount"), "10000");
    const { frames, blank, longest, p95, rows } = await page.evaluate(scroll, '[role="grid"]');
    figures.push(`10,000 runs, scrolled from end to end (${rows} rows in the document): ${frames} frames, ${blank} blank, 95 % within ${Math.round(p95)} ms, the longest ${Math.round(longest)} ms`);
    assert.equal(blank, 0, `${blank} of ${frames} frames had a blank stretch`);
    assert.ok(p95 < slowest * 100, `95 % of the frames took up to ${p95} ms`);
  });
});
