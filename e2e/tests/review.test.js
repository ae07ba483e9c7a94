// What people say of runs: labels, acknowledgements, mutes, and the audit log of all that.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });
const server = await Server.start({ after });

async function looping(name) {
  const agent = new Agent(name);
  await server.send([...agent.begin(), ...agent.work(2), ...agent.loop(9), ...agent.end("run_failed")]);
  return `/runs/${name}`;
}
const actionsOf = (page) => page.getByRole("group", { name: "Actions" });
const cardOf = (page) => page.getByRole("article", { name: "Same call same result" });

describe("a run", () => {
  test("is labelled, and the label stays until it is removed", async (t) => {
    const page = await open(t, browser, server, await looping("labelled"));
    const label = actionsOf(page).getByRole("combobox", { name: "Label" });
    await label.selectOption("Not a loop");
    await actionsOf(page).getByText("by local").waitFor();
    assert.equal((await server.get("/api/runs/labelled/review")).label.label, "not_a_loop");
    await page.reload();
    await actionsOf(page).getByText("by local").waitFor();
    assert.equal(await label.inputValue(), "not_a_loop");
    await label.selectOption("No label");
    await actionsOf(page).getByText("by local").waitFor({ state: "detached" });
    assert.equal((await server.get("/api/runs/labelled/review")).label, null);
  });

  test("is copied as Markdown", async (t) => {
    const page = await open(t, browser, server, await looping("copied"), { permissions: ["clipboard-read", "clipboard-write"] });
    await cardOf(page).waitFor();
    await actionsOf(page).getByRole("button", { name: "Copy as Markdown" }).click();
    await actionsOf(page).getByRole("button", { name: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    assert.match(text, /^## `copied`\n/);
    assert.match(text, /### Same call same result × 9/);
    assert.ok(text.endsWith(`<${server.url}/runs/copied>\n`), text);
  });

  test("is exported as the lines of its events", async (t) => {
    const page = await open(t, browser, server, await looping("exported"));
    await cardOf(page).waitFor();
    const [download] = await Promise.all([page.waitForEvent("download"), actionsOf(page).getByRole("button", { name: "Export" }).click()]);
    assert.equal(download.suggestedFilename(), "exported.jsonl");
    const lines = (await readFile(await download.path(), "utf8")).trim().split("\n").map((l) => JSON.parse(l));
    assert.equal(lines.length, (await server.get("/api/runs/exported")).event_count);
    assert.equal(lines[0].event_id, "exported-1");
    assert.equal(lines[0].project, (await server.get("/api/runs/exported")).project);
  });

  test("is deleted once that is confirmed", async (t) => {
    const page = await open(t, browser, server, await looping("deleted"), { expect: [/404/] });
    const dialog = page.getByRole("dialog", { name: "Delete this run?" });
    await actionsOf(page).getByRole("button", { name: "Delete …" }).click();
    await dialog.getByRole("button", { name: "Keep it" }).click();
    assert.equal((await server.get("/api/runs/deleted")).id, "deleted");
    await actionsOf(page).getByRole("button", { name: "Delete …" }).click();
    await dialog.getByRole("button", { name: "Delete the run" }).click();
    await page.getByText("This run was deleted.").waitFor();
    assert.equal((await fetch(`${server.url}/api/runs/deleted`)).status, 404);
  });
});

describe("a warning", () => {
  test("is acknowledged, and that is taken back", async (t) => {
    const page = await open(t, browser, server, await looping("seen"));
    await cardOf(page).getByRole("button", { name: "Acknowledge" }).click();
    await cardOf(page).getByText("Seen by local").waitFor();
    assert.equal((await server.get("/api/runs/seen/review")).acknowledged.length, 1);
    await cardOf(page).getByRole("button", { name: "Undo" }).click();
    await cardOf(page).getByRole("button", { name: "Acknowledge" }).waitFor();
    assert.equal((await server.get("/api/runs/seen/review")).acknowledged.length, 0);
  });

  test("is muted for its tool and project, which the audit log tells and ends", async (t) => {
    const page = await open(t, browser, server, await looping("muted"));
    await cardOf(page).getByRole("button", { name: "Mute …" }).click();
    const dialog = page.getByRole("dialog", { name: "Mute Same call same result" });
    await dialog.getByRole("textbox", { name: "Note" }).fill("it waits for CI");
    await dialog.getByRole("button", { name: "Mute" }).click();
    await cardOf(page).getByText("muted by local").waitFor();
    const [mute] = await server.get("/api/mutes");
    assert.deepEqual([mute.rule, mute.tool, mute.project, mute.note], ["same_call_same_result", "search", "e2e", "it waits for CI"]);
    await page.getByRole("link", { name: "Audit" }).click();
    const mutes = page.getByRole("region", { name: "Mutes" });
    await mutes.getByText("Same call same result, search, project e2e").waitFor();
    await page.getByRole("table", { name: "Audit log" }).getByRole("row").filter({ hasText: "Mute" }).getByText("it waits for CI").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    const note = await page.getByRole("table", { name: "Audit log" }).getByText("it waits for CI").boundingBox();
    assert.ok(note.x >= 0 && note.x + note.width <= 390, "on a phone the note is beside the screen");
    await mutes.getByRole("button", { name: "Unmute" }).click();
    await mutes.getByText("No rule is muted.").waitFor();
    await page.getByRole("table", { name: "Audit log" }).getByRole("row").filter({ hasText: `number ${mute.number}` }).waitFor();
  });
});
