import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { configure, event, flush, shutdown, stats, trace } from "../src/index.js";
import { forgetSettings, settings } from "../src/settings.js";
import { alone, freePort, reply, Scripted, Server, said, setEnvironment, until } from "./harness.js";

alone();

function send(number: number, text = "a"): void {
  trace("r", { id: "r" }, () => {
    for (let n = 0; n < number - 2; n++) event("message", { text });
  });
}

const accepted = { accepted: 1, rejected: 0, errors: [] };

test("events go in batches of at most 1000, gzipped, with the token", async () => {
  const scripted = await new Scripted((_, response) => reply(response, 201, accepted)).start();
  configure({ endpoint: scripted.url, token: "secret" });
  send(2500);
  assert.equal(await flush(), true);
  assert.deepEqual(
    scripted.requests.map((request) => request.body.trimEnd().split("\n").length),
    [1000, 1000, 500],
  );
  assert.equal(scripted.requests[0]?.headers["content-encoding"], "gzip");
  assert.equal(scripted.requests[0]?.headers.authorization, "Bearer secret");
  assert.deepEqual([stats().given, stats().sent, stats().queued], [2500, 2500, 0]);
});

test("events are sent without a flush", async () => {
  const scripted = await new Scripted((_, response) => reply(response, 201, accepted)).start();
  configure({ endpoint: scripted.url });
  send(3);
  await until(() => stats().sent === 3);
});

test("events that no server takes stay in memory within bounds, and are counted", async () => {
  configure({ endpoint: `http://127.0.0.1:${await freePort()}`, queueEvents: 100 });
  send(150);
  assert.equal(await flush(), false);
  const { given, queued, dropped, sent, away } = stats();
  assert.deepEqual({ given, queued, dropped, sent, away }, { given: 150, queued: 100, dropped: 50, sent: 0, away: true });
  configure({ queueBytes: 10_000 });
  send(1000);
  const after = stats();
  assert.equal(after.given, after.queued + after.dropped);
  assert.ok(after.queued < 100);
  assert.equal(said.filter((message) => message.startsWith("events dropped")).length, 1);
});

test("events that a server refused for the moment are sent later, each once", async () => {
  const answers = [429, 503];
  const scripted = await new Scripted((_, response) => reply(response, answers.shift() ?? 201, accepted)).start();
  configure({ endpoint: scripted.url });
  send(3);
  await until(async () => await flush());
  assert.equal(scripted.requests.length, 3);
  assert.equal(scripted.requests[0]?.body, scripted.requests[2]?.body);
  assert.equal(stats().sent, 3);
  assert.ok(said.some((message) => message.endsWith("returned 429; events are kept in memory and sent later")));
});

test("events from before a change of settings are sent, and shutdown waits for them", async () => {
  const before = await new Scripted((_, response) => reply(response, 201, accepted)).start();
  configure({ endpoint: before.url });
  send(3);
  configure({ endpoint: `http://127.0.0.1:${await freePort()}` });
  await shutdown();
  assert.equal(before.requests.length, 1);
  assert.equal(before.requests[0]?.body.trimEnd().split("\n").length, 3);
});

test("a sender from before a change of settings ends with shutdown", async () => {
  configure({ endpoint: `http://127.0.0.1:${await freePort()}` });
  send(3);
  configure({ queueBytes: 10_000 });
  await shutdown(0);
  assert.deepEqual(
    said.filter((message) => message.startsWith("3 events dropped")),
    ["3 events dropped: the server did not accept them in time"],
  );
});

test("a batch that is too large is halved, and an event that is too large is rejected", async () => {
  const scripted = await new Scripted((request, response) =>
    reply(response, request.body.length > 2000 ? 413 : 201, accepted),
  ).start();
  configure({ endpoint: scripted.url });
  send(20);
  trace("r", () => event("message", { text: "a".repeat(3000) }));
  assert.equal(await flush(), true);
  assert.deepEqual([stats().sent, stats().rejected], [23, 1]);
});

test("a wrong token is said", async () => {
  const scripted = await new Scripted((_, response) => reply(response, 401, { detail: "no such token" })).start();
  configure({ endpoint: scripted.url });
  send(2);
  assert.equal(await flush(), false);
  assert.match(said[0] ?? "", /denied access, check UNLOOP_TOKEN: no such token/);
});

test("events that the server rejects are counted, and the reason is said once", async () => {
  const answer = { accepted: 1, rejected: 2, errors: [{ field: "type", reason: "it is missing" }] };
  const scripted = await new Scripted((_, response) => reply(response, 201, answer)).start();
  configure({ endpoint: scripted.url });
  send(3);
  assert.equal(await flush(), true);
  assert.deepEqual([stats().sent, stats().rejected], [3, 2]);
  assert.deepEqual(said, ["the server rejected an event: type: it is missing"]);
});

test("invalid settings are logged without their credentials, and ignored", () => {
  setEnvironment("UNLOOP_QUEUE_EVENTS", "many");
  setEnvironment("UNLOOP_CAPTURE_INPUTS", "nope");
  setEnvironment("UNLOOP_TOKEN", "a b");
  setEnvironment("UNLOOP_ENDPOINT", "http://me:secret@127.0.0.1:1");
  forgetSettings();
  const { queueEvents, captureInputs, token, endpoint } = settings();
  assert.deepEqual(
    { queueEvents, captureInputs, token, endpoint },
    { queueEvents: 50_000, captureInputs: true, token: "", endpoint: "http://127.0.0.1:1" },
  );
  assert.deepEqual(said, [
    'UNLOOP_CAPTURE_INPUTS ignored: invalid value "nope": want true or false',
    'UNLOOP_QUEUE_EVENTS ignored: invalid value "many": want a number that is not negative',
    "invalid token ignored: want printable ASCII without spaces or line ends",
    "user and password in the endpoint ignored: use UNLOOP_TOKEN",
  ]);
});

test("after shutdown events are dropped", async () => {
  const scripted = await new Scripted((_, response) => reply(response, 201, accepted)).start();
  configure({ endpoint: scripted.url });
  send(2);
  await shutdown();
  send(2);
  assert.deepEqual([stats().sent, stats().dropped], [2, 2]);
});

const program = (end: string): string => `
  import { event, trace } from ${JSON.stringify(resolve("build/src/index.js"))};
  trace("r", { id: "r" }, () => { for (let n = 0; n < 1500; n++) event("message", { text: "a" + n }); });
  ${end}`;

for (const [how, end] of [
  ["ends", ""],
  ["calls process.exit", "process.exit(0);"],
  ["fails", "setTimeout(() => { throw new Error('on purpose'); });"],
]) {
  test(`a program that ${how} has sent its events`, async () => {
    const server = await new Server().start();
    const run = () =>
      execFileSync(process.execPath, ["--input-type=module", "-e", program(end as string)], {
        env: { ...process.env, UNLOOP_ENDPOINT: server.url, UNLOOP_EXIT_TIMEOUT: "60" },
        stdio: "pipe",
      });
    if (how === "fails") assert.throws(run, /on purpose/);
    else run();
    assert.equal((await server.get("/api/runs/r")).events ?? (await server.get("/api/runs/r/metrics")).total_events, 1502);
  });
}

test("a program without a server ends soon, and says what it dropped", async () => {
  const started = performance.now();
  const { stderr } = (await import("node:child_process")).spawnSync(process.execPath, ["--input-type=module", "-e", program("")], {
    env: { ...process.env, UNLOOP_ENDPOINT: `http://127.0.0.1:${await freePort()}` },
    encoding: "utf8",
  });
  assert.match(stderr, /1502 events dropped: the server did not accept them at the end of the program/);
  assert.ok(performance.now() - started < 20_000);
});
