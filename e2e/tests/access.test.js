// Every page, light and dark, on a desk and on a phone: nothing that keeps people out (axe), and a photograph of it.
import assert from "node:assert/strict";
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import { Agent, nestedSpans } from "../agents.js";
import { launch, open } from "../browser.js";
import { run, Server } from "../server.js";

const axe = await readFile(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const folder = new URL("../screenshots/", import.meta.url);
await mkdir(folder, { recursive: true });

const browser = await launch({ after });
const server = await Server.start({ after });
const empty = await Server.start({ after });
process.env.UNLOOP_SHADOW_PROFILE = "cycles";
const shadowed = await Server.start({ after });
delete process.env.UNLOOP_SHADOW_PROFILE;
const once = new Agent("once");
await shadowed.send([...once.begin(), ...once.loop(12)]);

// Runs of all kinds: those of the demo, a swarm of agents, and many that are well.
const demo = run("demo", "--endpoint", server.url, "--speed", "60");
assert.equal(await demo.ended, 0, demo.said.text);
const now = Date.now();
for (let i = 0; i < 40; i++) {
  const agent = new Agent(`nightly-${i}`, { name: `nightly report ${i}`, project: i % 3 ? "reports" : "triage", start: now - 3_600_000 - i * 1_800_000 });
  const events = [...agent.begin(), ...agent.work(5 + (i % 7))];
  if (i % 5 === 0) events.push(...agent.loop(4 + (i % 9)));
  await server.send([...events, ...agent.end(i % 11 === 0 ? "run_failed" : "run_completed")]);
}
const pair = new Agent("handover", { name: "writer and reviewer", agent: "writer", project: "blog", start: now - 900_000 });
const talk = [...pair.begin()];
for (let i = 0; i < 6; i++) {
  pair.agent = i % 2 ? "writer" : "reviewer";
  talk.push(pair.event("handoff_started"), ...pair.say("assistant", "Please have another look at the second paragraph."));
}
talk.push(...pair.call("publish", { to: "blog" }, new Error("403: the token has expired")));
await server.send(talk);
await server.post("/v1/traces", JSON.stringify(nestedSpans()));
const [{ id: team }] = await server.get("/api/runs?text=planner");
const watched = new Agent("guarded", { name: "guarded research", start: now - 600_000 });
const report = (more) => ({ metadata: { guard: { by: "Go", ...more } } });
await server.send([
  watched.event("run_started", { name: "guarded research", ...report({}) }), ...watched.loop(9),
  watched.event("guard_decision", report({ action: "halt", code: "halted", message: "You repeat the search.", count: 7, span: 14 })),
]);
await server.post("/api/runs/guarded/control", JSON.stringify({ act: "allow", tool: "search", by: "Ann", why: "the index was rebuilt" }));
const runs = await server.get("/api/runs?text=demo-stuck");
const stuck = runs[0].id;

await server.post("/api/acts", JSON.stringify({ action: "label", run_id: stuck, value: "loop", note: "it searches for ever" }));
const patient = new Agent("waits", { start: now - 1_200_000 });
const refused = () => patient.call("deploy", { to: `stage ${patient.calls}` }, new Error("503: try again"));
await server.send([...patient.begin(), ...Array.from({ length: 5 }, refused).flat(), ...patient.end()]);
await server.post("/api/acts", JSON.stringify({ action: "label", run_id: "waits", value: "not_a_loop", note: "it waits for a deployment" }));
await server.post("/api/acts", JSON.stringify({ action: "mute", rule: "cycle", tool: "search", note: "a known one" }));
await server.post("/api/alerts", JSON.stringify({ url: "https://hooks.slack.com/services/x", format: "slack", level: "block", projects: ["reports"], quiet_hours: { from: "22:00", until: "07:00", time_zone: "Europe/Berlin" } }));
const at = (hours) => new Date(now - hours * 3_600_000).toISOString();

/** pages are those that are looked at, each with what shows that it is all there. */
const pages = [
  { name: "empty", server: empty, path: "/", ready: (p) => p.getByRole("heading", { name: "No runs yet" }) },
  { name: "runs", path: "/", ready: (p) => p.getByRole("row").filter({ hasText: "nightly report 0" }).getByText("read_file") },
  {
    name: "run", path: `/runs/${stuck}`,
    ready: async (p) => {
      await p.getByRole("button", { name: "Last repeat" }).first().click();
      return p.getByLabel("Event", { exact: true });
    },
  },
  {
    name: "run-guarded", path: "/runs/guarded",
    ready: async (p) => {
      await p.getByRole("button", { name: "Nudge" }).click();
      return p.getByLabel("Words for the agent");
    },
  },
  { name: "run-agents", path: "/runs/handover", ready: (p) => p.getByRole("treegrid", { name: "Timeline" }).getByText("publish") },
  { name: "waterfall", path: `/runs/${team}/waterfall`, ready: (p) => p.getByRole("treegrid", { name: "Waterfall" }).getByText("search").first() },
  { name: "shadow", server: shadowed, path: "/shadow", ready: (p) => p.getByText(/^Judged: 1 run\./) },
  { name: "shadow-none", path: "/shadow", ready: (p) => p.getByText("A shadow profile judges all runs") },
  { name: "run-not-found", path: "/runs/nothing", expect: [/404/], ready: (p) => p.getByRole("heading", { name: "Run not found" }) },
  { name: "not-found", path: "/nowhere", expect: [/404/], ready: (p) => p.getByRole("heading", { name: "Page not found" }) },
  { name: "graph", path: `/runs/${stuck}/graph`, ready: (p) => p.getByRole("button", { name: /calls.*loop/ }).first() },
  {
    name: "what-if", path: `/runs/${stuck}/what-if`,
    ready: async (p) => {
      await p.getByRole("combobox", { name: "Profile" }).selectOption("loopguard");
      await p.getByRole("button", { name: "Replay" }).click();
      return p.getByRole("region", { name: "Replay result" }).getByRole("heading", { name: /^Decisions/ });
    },
  },
  { name: "compare", path: `/compare?a=${stuck}&b=${stuck.replace("stuck", "healthy")}`, ready: (p) => p.getByRole("heading", { name: "First difference" }) },
  { name: "runs-looping", path: "/?decision=warn,block,halt&sort=events", ready: (p) => p.getByRole("row").filter({ hasText: "nightly report 0" }) },
  { name: "runs-none", path: "/?text=no-such-run-anywhere", ready: (p) => p.getByText("No matching runs") },
  {
    name: "runs-filters", path: "/?project=reports",
    ready: async (p) => {
      await p.getByRole("button", { name: /^Filters/ }).click();
      return p.getByRole("dialog", { name: "Filters" }).getByRole("combobox", { name: "Metadata" });
    },
  },
  { name: "overview", path: "/overview?since=24h", ready: (p) => p.getByRole("table", { name: "Tools that loop most" }) },
  { name: "suggestions", path: "/suggestions", ready: (p) => p.getByRole("article").first() },
  { name: "alerts", path: "/alerts", ready: (p) => p.getByText("22:00 to 07:00, Europe/Berlin") },
  {
    name: "alert-add", path: "/alerts",
    ready: async (p) => {
      await p.getByRole("button", { name: "Change …" }).click();
      return p.getByRole("dialog").getByLabel("Until", { exact: true });
    },
  },
  { name: "audit", path: "/audit", ready: (p) => p.getByRole("table", { name: "Audit log" }) },
  {
    name: "mute", path: `/runs/${stuck}`,
    ready: async (p) => {
      await p.getByRole("button", { name: "Mute …" }).first().click();
      return p.getByRole("dialog").getByRole("button", { name: "Mute" });
    },
  },
  {
    name: "overview-change", path: `/overview?since=24h&project=reports&a=${at(24)}/${at(10)}&b=${at(10)}/${at(-1)}`,
    ready: (p) => p.getByRole("table", { name: "Comparison" }),
  },
  { name: "rules", path: "/rules", ready: (p) => p.getByRole("heading", { name: "Same call same result" }) },
];

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, deviceScaleFactor: 2 };

/** shown are the photographs that the README has. */
const shown = ["runs-light", "run-light", "run-dark", "graph-light", "what-if-light"];

async function findings(page) {
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  return violations
    .filter((v) => v.impact === "serious" || v.impact === "critical")
    .map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.target} ${n.failureSummary}`).slice(0, 5).join("; ")}`);
}

// Each page is loaded once, in the first theme, and then changes to the second.
for (const [device, options, themes] of [["desk", {}, ["light", "dark"]], ["phone", phone, ["dark", "light"]]]) {
  describe(device, () => {
    for (const { name, path, ready, expect, server: at = server } of pages) {
      test(`${name} keeps nobody out, ${themes.join(" and ")}`, async (t) => {
        const page = await open(t, browser, at, path, { ...options, colorScheme: themes[0], expect });
        await (await ready(page)).waitFor({ state: "attached" });
        await page.evaluate(() => document.fonts.ready);
        // The page's own policy forbids scripts from elsewhere, so axe comes in through the debugger, as it would from an extension.
        await page.evaluate(axe);
        for (const theme of themes) {
          await page.emulateMedia({ colorScheme: theme });
          const shot = device === "desk" ? `${name}-${theme}` : `${name}-phone-${theme}`;
          const photograph = new URL(`${shot}.png`, folder);
          await page.screenshot({ path: photograph.pathname });
          if (process.env.IMAGES && shown.includes(shot)) await copyFile(photograph, `${process.env.IMAGES}/${shot}.png`);
          assert.deepEqual({ [theme]: await findings(page) }, { [theme]: [] });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          assert.ok(wide <= 0, `in the theme ${theme} the page is ${wide} pixels wider than the window`);
        }
      });
    }
  });
}

describe("who wants less motion", () => {
  test("sees none", async (t) => {
    const page = await open(t, browser, server, `/runs/${stuck}/graph`, { reducedMotion: "reduce" });
    await page.getByRole("button", { name: /calls.*loop/ }).first().waitFor();
    const moving = await page.evaluate(() => document.getAnimations().filter((a) => a.effect.getComputedTiming().duration > 10).length);
    assert.equal(moving, 0);
  });
});
