// A real Chromium, and pages in it that notice what must not happen.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const executablePath = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((p) => p && existsSync(p));

const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-sync",
];

/** How long a page may take for what it does at once. It is long, since other tests may run on the same machine. */
export const patience = 60_000;

/** launch returns a browser that ends with the suite. */
export async function launch(owner) {
  assert.ok(executablePath, "there is no Chromium: scripts/needs installs it, and CHROMIUM names one that stands elsewhere");
  const browser = await chromium.launch({ executablePath, args, headless: true });
  owner.after(() => browser.close());
  return browser;
}

/**
 * open returns a page of its own context at an address. What must never happen is held against the test at its end: errors of
 * the page, dialogs, requests to anywhere but the server, and breaches of the server's policy.
 */
export async function open(t, browser, server, path, { expect = [], ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(patience);
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(`error: ${e.message}`));
  page.on("dialog", (d) => (wrong.push(`dialog: ${d.message()}`), d.dismiss()));
  page.on("console", (m) => m.type() === "error" && wrong.push(`console: ${m.text()}`));
  page.on("request", (r) => {
    const to = new URL(r.url());
    if (to.origin !== server.url && to.protocol !== "data:") wrong.push(`request: ${r.url()}`);
  });
  let closed;
  const leave = () => (closed ??= context.close().then(() => {
    assert.deepEqual(wrong.filter((w) => !expect.some((e) => e.test(w))), [], "what must not happen in a page");
  }));
  t.after(leave);
  server.leaving.push(leave);
  await page.goto(server.url + path);
  return page;
}

/** marked puts a mark into the page, and returns what says whether it is still there: it is not after a reload. */
export async function marked(page) {
  await page.evaluate(() => (window.notReloaded = true));
  return () => page.evaluate(() => window.notReloaded === true);
}

/** inSight tells whether the whole height of an element is within the box that scrolls it. */
export async function inSight(locator, list) {
  const [row, box] = await Promise.all([locator.boundingBox(), list.boundingBox()]);
  return row !== null && box !== null && row.y >= box.y - 1 && row.y + row.height <= box.y + box.height + 1;
}
