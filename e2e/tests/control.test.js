// People control guarded runs from the page: agents in Go and in Python pause, go on, are nudged and end.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { program, Server } from "../server.js";

const browser = await launch({ after });
const here = join(dirname(fileURLToPath(import.meta.url)), "..");

/** start starts an agent, and returns the lines that it has printed, with their times; all of them once it has ended. It ends with the test. */
function start(t, server, command, ...args) {
  const agent = spawn(command, args, {
    cwd: join(here, ".."), stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, UNLOOP_ENDPOINT: server.url, UNLOOP_BIN: program, PYTHONPATH: join(here, "../sdk/python/src") },
  });
  const lines = [];
  const times = []; // of the lines
  createInterface({ input: agent.stdout }).on("line", (line) => (lines.push(line), times.push(Date.now()))); // a chunk may end anywhere
  const ended = once(agent, "close").then(([code]) => code);
  t.after(() => agent.kill("SIGKILL"));
  return { lines, times, ended };
}

/** until waits for a condition. */
async function until(what, reached, limit = 60_000) {
  for (const end = Date.now() + limit; !(await reached()); ) {
    assert.ok(Date.now() < end, `it takes too long: ${what}`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

const agents = {
  Go: (t, server, run) => start(t, server, process.env.GOAGENT, run),
  Python: (t, server, run) => start(t, server, process.env.PYTHON ?? "python3", join(here, "agent.py"), run),
};

for (const [language, run] of Object.entries(agents)) {
  describe(`an agent in ${language}`, () => {
    test("is paused, resumed, nudged and halted from the page", async (t) => {
      const server = await Server.start(t);
      const agent = run(t, server, "controlled");
      await until("the first calls", () => agent.lines.length > 2);
      const page = await open(t, browser, server, "/runs/controlled");
      await page.getByText(`guarded by ${language}`).waitFor();
      const panel = page.getByRole("region", { name: "Control" });
      await panel.getByText("The guard listens.").waitFor();

      const ordered = Date.now();
      await panel.getByRole("button", { name: "Pause" }).click();
      await panel.getByText("Paused: calls wait. The guard listens.").waitFor();
      let calls = -1;
      await until("the pause", async () => {
        const quiet = calls === agent.lines.length;
        calls = agent.lines.length;
        await new Promise((r) => setTimeout(r, 400));
        return quiet && calls === agent.lines.length;
      });
      console.log(`${language}: the last call ended ${Math.max(0, agent.times.at(-1) - ordered)} ms after the click on Pause`);

      const resumed = Date.now();
      await panel.getByRole("button", { name: "Resume" }).click();
      await until("further calls", () => agent.lines.length > calls + 2);
      console.log(`${language}: the next call ended ${agent.times[calls] - resumed} ms after the click on Resume`);

      await panel.getByRole("button", { name: "Nudge" }).click();
      await panel.getByLabel("Words for the agent").fill("Read the index first.");
      await panel.getByLabel("Reason for other people").fill("it wanders");
      await panel.getByRole("button", { name: "Send nudge" }).click();
      await until("the nudge", () => agent.lines.some((line) => line.includes("Read the index first.")));
      await panel.getByRole("list", { name: "Orders" }).getByText("it wanders").waitFor();

      await panel.getByRole("button", { name: "Halt" }).click();
      await panel.getByLabel("Reason for the agent").fill("Enough.");
      await panel.getByRole("button", { name: "Halt run" }).click();
      await panel.getByText("Halted by a person.").waitFor();
      assert.equal(await agent.ended, 3);
      assert.match(agent.lines.at(-1), /halted: .*Enough\./);
      await page.getByRole("status", { name: "Verdict" }).getByText("Halted by the guard").waitFor();
    });
  });
}

test("an observed run that loops can be copied and says that nobody stops it", async (t) => {
  const server = await Server.start(t);
  await server.send(new Agent("watched").loop(12));
  const page = await open(t, browser, server, "/runs/watched", { permissions: ["clipboard-read", "clipboard-write"] });
  const panel = page.getByRole("region", { name: "Control" });
  await panel.getByText("This run is observed: nobody stops its calls.").waitFor();
  assert.equal(await panel.getByRole("button", { name: "Pause" }).count(), 0);
  await page.getByRole("button", { name: "Copy as Markdown" }).click(); // the page has one such button
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^## `watched`\n\nThis run is stuck in a loop/);
});
