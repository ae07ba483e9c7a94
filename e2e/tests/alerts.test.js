// Who is told of loops: webhooks that are set up on the page, and notifications of the browser.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });

// An endpoint that keeps what it is told, and how it is signed.
const told = [];
const hook = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  told.push({ signature: request.headers["x-unloop-signature"], ...JSON.parse(text) });
  response.writeHead(request.url.startsWith("/refuses") ? 403 : 204).end();
  hook.emit("told");
});
hook.listen(0, "127.0.0.1");
await once(hook, "listening");
after(() => hook.close());
const endpoint = `http://127.0.0.1:${hook.address().port}`;

/** when waits until the endpoint was told so many messages. */
async function when(count) {
  while (told.length < count) await once(hook, "told");
}

async function looping(server, name, more = {}) {
  const agent = new Agent(name, more);
  await server.send([...agent.begin(), ...agent.work(2), ...agent.loop(9), ...agent.end("run_failed")]);
}
const cards = (page) => page.getByRole("article", { name: `Webhook ${endpoint}` });

describe("webhooks", () => {
  test("are added, tested, told of a run once, changed and deleted on the page", async (t) => {
    const server = await Server.start(t);
    told.length = 0;
    const page = await open(t, browser, server, "/", { expect: [/422/] });
    await page.getByRole("link", { name: "Alerts" }).click();
    await page.getByText("No webhooks yet.").waitFor();
    await page.getByRole("button", { name: "Add a webhook …" }).click();
    const adds = page.getByRole("dialog", { name: "Add a webhook" });
    await adds.getByRole("textbox", { name: "URL" }).fill(`${endpoint}/secret-path`);
    await adds.getByLabel("Signing key").fill("a-long-key");
    await adds.getByRole("textbox", { name: "Projects" }).fill("web, shop");
    await adds.getByRole("button", { name: "Add" }).click();
    await cards(page).getByText("signed").waitFor();
    await cards(page).getByText("web, shop").waitFor();
    await cards(page).getByRole("button", { name: "Send test" }).click();
    await cards(page).getByText(/^Delivered in \d+ ms\.$/).waitFor();
    assert.equal(told[0].type, "test");
    assert.match(told[0].signature, /^t=\d+,v1=[0-9a-f]{64}$/);

    await looping(server, "quiet", { project: "elsewhere" });
    await looping(server, "loud", { project: "shop" });
    await when(2);
    assert.deepEqual([told[1].type, told[1].run.id], ["warning", "loud"]);

    await cards(page).getByRole("button", { name: "Change …" }).click();
    const changes = page.getByRole("dialog", { name: `Change ${endpoint}` });
    assert.equal(await changes.getByRole("textbox", { name: "URL" }).inputValue(), "");
    await changes.getByRole("combobox", { name: "Alert" }).selectOption("Only halted runs");
    await changes.getByRole("checkbox", { name: "Remove the key" }).check();
    await changes.getByRole("checkbox", { name: /^Quiet hours/ }).check();
    await changes.getByLabel("From", { exact: true }).fill("21:30");
    await changes.getByRole("combobox", { name: "Time zone" }).fill("Atlantis");
    await changes.getByRole("button", { name: "Save" }).click();
    await changes.getByRole("alert").filter({ hasText: 'unknown time zone "Atlantis"' }).waitFor();
    await changes.getByRole("combobox", { name: "Time zone" }).fill("Europe/Berlin");
    await changes.getByRole("button", { name: "Save" }).click();
    await cards(page).getByText("21:30 to 07:00, Europe/Berlin").waitFor();
    await cards(page).getByText("signed").waitFor({ state: "detached" });
    await cards(page).getByRole("button", { name: "Send test" }).click();
    await when(3);
    assert.deepEqual([told[2].type, told[2].signature], ["test", undefined]);
    assert.ok(!(await page.content()).includes("secret-path"), "the page has the address");
    assert.ok(!JSON.stringify(await server.get("/api/alerts")).includes("secret-path"), "the API has the address");

    await cards(page).getByRole("button", { name: "Delete …" }).click();
    await page.getByRole("dialog", { name: "Delete this webhook?" }).getByRole("button", { name: "Delete the webhook" }).click();
    await page.getByText("No webhooks yet.").waitFor();
    await page.getByRole("link", { name: "Audit" }).click();
    const log = page.getByRole("table", { name: "Audit log" });
    for (const action of ["Add alert", "Change alert", "Delete alert"]) await log.getByRole("row").filter({ hasText: action }).getByText(endpoint).waitFor();
  });

  test("of the configuration file are shown and tested, and not changed", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "unloop-e2e-alerts-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, "unloop.yaml");
    await writeFile(file, `webhooks:\n  - url: ${endpoint}/refuses\n    rules: [same_error]\n`);
    const server = await Server.start(t, "--config", file);
    const page = await open(t, browser, server, "/alerts");
    await cards(page).getByText("configuration file").waitFor();
    await cards(page).getByText("Same error").waitFor();
    assert.equal(await cards(page).getByRole("button", { name: /Change|Delete/ }).count(), 0);
    await cards(page).getByRole("button", { name: "Send test" }).click();
    await cards(page).getByRole("alert").filter({ hasText: "Not delivered: it answered 403 Forbidden" }).waitFor();
  });
});

describe("notifications", () => {
  /** keeping has the page keep what it shows, since nobody sees the notifications of a browser without a screen. */
  const keeping = () => {
    window.shown = [];
    const real = window.Notification;
    window.Notification = class extends real {
      constructor(title, options) {
        super(title, options);
        window.shown.push(title);
      }
    };
  };

  test("are turned on, shown once for each run and level on any page, and turned off", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/alerts", { permissions: ["notifications"] });
    await page.addInitScript(keeping);
    await page.reload();
    const part = page.getByRole("region", { name: "This browser" });
    await part.getByRole("combobox", { name: "Alert" }).selectOption("Every warning");
    const streams = page.waitForResponse((r) => r.url().endsWith("/api/stream"));
    await part.getByRole("button", { name: "Turn notifications on" }).click();
    await part.getByText("On: every warning.").waitFor();
    await streams;
    await page.getByRole("link", { name: "Rules" }).click();
    await looping(server, "first");
    await page.waitForFunction(() => window.shown.some((s) => s.includes("first")));
    const shown = await page.evaluate(() => window.shown);
    assert.equal(new Set(shown).size, shown.length, `shown twice: ${shown}`);
    assert.ok(shown.some((s) => s === "A guard would have halted first" || s === "A guard would have blocked a call of first"), `shown: ${shown}`);

    await page.reload(); // the browser remembers
    await page.getByRole("link", { name: "Alerts" }).click();
    await part.getByText("On: every warning.").waitFor();
    await part.getByRole("button", { name: "Turn notifications off" }).click();
    await part.getByRole("button", { name: "Turn notifications on" }).waitFor();
  });

  test("that the browser does not allow are explained", async (t) => {
    const server = await Server.start(t);
    const page = await open(t, browser, server, "/alerts");
    const part = page.getByRole("region", { name: "This browser" });
    await part.getByRole("button", { name: "Turn notifications on" }).click();
    await part.getByRole("alert").filter({ hasText: "The browser does not allow notifications of this page." }).waitFor();
  });
});
