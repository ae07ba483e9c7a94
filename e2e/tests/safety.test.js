// What agents say is shown as text, and the page asks nobody but its server.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Agent } from "../agents.js";
import { launch, open } from "../browser.js";
import { Server } from "../server.js";

const browser = await launch({ after });

const bad = '<img src="https://evil.example/x.png" onerror="alert(1)"><script>alert(2)</script><a href="javascript:alert(3)">click</a>{@html 4}';

/** everywhere has the text wherever a sender can put one. */
function everywhere(run) {
  const agent = new Agent(run, { name: bad, agent: bad, project: bad });
  const events = [...agent.begin(), agent.event("message", { role: "user", text: bad }), agent.event(bad, { name: bad, status: bad, model: bad })];
  for (let i = 0; i < 8; i++) {
    const call_id = `c${i}`;
    events.push(
      agent.event("llm_call_started", { model: bad }),
      agent.event("llm_call_completed", { model: bad, output: { text: bad } }),
      agent.event("tool_call_started", { tool: bad, call_id, input: { [bad]: bad }, metadata: { [bad]: bad } }),
      agent.event("tool_call_failed", { tool: bad, call_id, error: { message: bad } }),
    );
  }
  return [...events, agent.event("handoff_started", { agent: bad }), ...agent.end("run_failed")];
}

describe("what agents say", () => {
  test("is shown as text on every page", async (t) => {
    const server = await Server.start(t);
    await server.send([...everywhere("bad"), ...everywhere(bad)]);
    const [warning] = await server.get("/api/runs/bad/warnings");
    const pages = [
      "/", "/runs/bad", `/runs/bad?event=${warning.event_id}`, `/runs/${encodeURIComponent(bad)}`, "/runs/bad/graph", "/runs/bad/what-if",
      `/compare?a=bad&b=${encodeURIComponent(bad)}`, "/overview?since=87600h", "/rules", `/?text=${encodeURIComponent(bad)}`,
    ];
    const page = await open(t, browser, server, "/");
    for (const path of pages) {
      await page.goto(server.url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText(path === "/rules" ? "Same call same result" : "onerror").first().waitFor({ state: "attached" });
      const made = await page.evaluate(() => ({
        images: [...document.images].map((i) => i.src), scripts: document.querySelectorAll("#app script").length,
        links: [...document.links].map((a) => a.href).filter((href) => !href.startsWith(location.origin)),
      }));
      assert.deepEqual(made, { images: [], scripts: 0, links: [] }, path);
    }
    await page.goto(`${server.url}/runs/bad?event=${warning.event_id}`);
    await page.getByRole("complementary", { name: "Event" }).getByText(bad).first().waitFor();
  });
});

describe("the server", () => {
  test("lets a page load nothing from elsewhere, run nothing inline, and be framed by nobody", async (t) => {
    const server = await Server.start(t);
    const answer = await fetch(server.url);
    const policy = answer.headers.get("content-security-policy");
    for (const rule of ["default-src 'self'", "object-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]) assert.ok(policy.includes(rule), policy);
    assert.ok(!policy.includes("unsafe"), policy);
    const page = await open(t, browser, server, "/", { expect: [/Content Security Policy|violates/] });
    const ran = await page.evaluate(
      () =>
        new Promise((resolve) => {
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.addEventListener("securitypolicyviolation", () => resolve(window.ran === true), { once: true });
          document.body.append(script);
        }),
    );
    assert.equal(ran, false);
  });

  test("says of itself what the dashboard was built for", async (t) => {
    const server = await Server.start(t);
    const known = JSON.parse(await readFile(new URL("../../ui/openapi.json", import.meta.url), "utf8"));
    const now = await server.get("/openapi.json");
    known.info.version = now.info.version = "";
    assert.deepEqual(known, now, "ui/openapi.json is not what the server says: run make openapi");
  });

  test("is asked with a token where it wants one", async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "unloop-e2e-"));
    t.after(() => rm(folder, { recursive: true, force: true }));
    const hash = (token) => createHash("sha256").update(token).digest("hex");
    await writeFile(join(folder, "unloop.yaml"), `tokens:\n  - {name: me, scope: read, sha256: ${hash("open sesame")}}\n  - {name: ci, scope: ingest, sha256: ${hash("send only")}}\n`);
    const server = await Server.start(t, "--config", join(folder, "unloop.yaml"));
    const page = await open(t, browser, server, "/", { expect: [/401|403/] });
    await page.getByRole("heading", { name: "Token required" }).waitFor();
    assert.equal(await page.getByRole("alert").count(), 0, "nobody has given a token yet");
    for (const [given, why] of [["wrong", "unknown token"], ["send only", "the scope ingest"]]) {
      await page.getByRole("textbox", { name: "Token" }).fill(given);
      await page.getByRole("button", { name: "Use token" }).click();
      await page.getByRole("alert").filter({ hasText: why }).waitFor();
    }
    await page.getByRole("textbox", { name: "Token" }).fill("open sesame");
    await page.getByRole("button", { name: "Use token" }).click();
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
  });
});
