// Measures what the package costs an agent: the time of an event on its thread, and the round trip of a guard's decision. The
// target overhead of the Makefile sets UNLOOP_BIN and runs it.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { configure, flush, Guard, observe, program, shutdown, stats, trace } from "../src/index.js";
import { Run } from "../src/run.js";

const ROUNDS = 6;
const EVENTS = 2000; // of a round

const folder = mkdtempSync(join(tmpdir(), "unloop-overhead."));
const port = 20_000 + Math.floor(Math.random() * 20_000);
const command = ["serve", "--addr", `127.0.0.1:${port}`, "--grpc-addr", "off", "--db", join(folder, "unloop.db")];
const server = spawn(program(), command, { stdio: ["ignore", "pipe", "inherit"] });
await new Promise((ready) => server.stdout.once("data", ready)); // it prints when it is ready
server.stdout.resume();
configure({ endpoint: `http://127.0.0.1:${port}` });

function percentile(times: number[], share: number): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * share)] ?? Number.NaN;
}

function print(what: string, medians: number[], p99: number): void {
  const [least, most] = [Math.min(...medians), Math.max(...medians)].map((time) => time.toFixed(1));
  console.log(`${what.padEnd(64)} median ${least} to ${most} µs, p99 ${p99.toFixed(0)} µs`);
}

/** Measures act in rounds, and lets the sender work between them. */
async function measure(what: string, number: number, act: (n: number) => unknown): Promise<void> {
  const medians: number[] = [];
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times: number[] = [];
    for (let n = 0; n < number; n++) {
      const started = performance.now();
      const result = act(round * number + n);
      if (result instanceof Promise) await result;
      times.push((performance.now() - started) * 1000);
    }
    await flush();
    medians.push(percentile(times, 0.5));
    all.push(...times);
  }
  print(what, medians, percentile(all, 0.99));
}

const run = Run.begin("overhead");
const page = { url: "https://archive.example", text: "word ".repeat(300) };
await measure("an event with a short text", EVENTS, (n) => run.event("message", { text: `step ${n}` }));
await measure("an event with a call's arguments", EVENTS, (n) =>
  run.event("tool_call_started", { tool: "search", call_id: `${n}`, input: { query: "loops", page: n } }),
);
await measure("an event with a result of 1.5 kB", EVENTS, (n) =>
  run.event("tool_call_completed", { tool: "search", call_id: `${n}`, output: page }),
);
const search = observe((_args: { page: number }) => page, { name: "search" });
await trace("observed", () =>
  measure("an observed call, which is two events, with a result of 1.5 kB", EVENTS, (n) => search({ page: n })),
);
run.end();

for (const [what, endpoint] of [
  ["a decision of the guard, child process", ""],
  ["a decision of the guard, server on this machine", `http://127.0.0.1:${port}`],
] as const) {
  const guard = await new Guard(endpoint ? { endpoint } : {}).ready();
  await measure(what, 500, async (n) => {
    await guard.before("read", { page: n }, { id: `${n}` });
    // Only the question is measured; each call ends before the next.
  });
}
console.log(JSON.stringify(stats()));
configure({ enabled: false });
await measure("an observed call, disabled", EVENTS, (n) => search({ page: n }));

await shutdown();
server.kill();
rmSync(folder, { recursive: true, force: true });
