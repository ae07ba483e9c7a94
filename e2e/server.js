// A real unloop serve for a test: its own port, its own database, gone when the test has ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The program under test, which e2e/run builds. */
export const program = process.env.UNLOOP ?? "bin/unloop";

const children = new Set();
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** run starts the program, and returns it with what it said so far. */
export function run(...args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, UNLOOP_ENDPOINT: undefined } });
  children.add(child);
  const said = { text: "" };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said.text += chunk));
  const ended = once(child, "exit").then(([code]) => (children.delete(child), code));
  return { child, said, ended };
}

/** freeAddress returns an address that stays free while the server is stopped: the system gives its port to no outgoing connection. */
async function freeAddress() {
  for (;;) {
    const probe = createServer();
    const address = { host: "127.0.0.1", port: 20_000 + Math.floor(Math.random() * 12_000) };
    try {
      await new Promise((resolve, reject) => probe.once("error", reject).listen(address, resolve));
    } catch (error) {
      if (error.code === "EADDRINUSE") continue;
      throw error;
    }
    await new Promise((resolve) => probe.close(resolve));
    return `${address.host}:${address.port}`;
  }
}

/** Server is a server that can be stopped and started again at the same address with the same database. */
export class Server {
  /** What closes the pages that look at the server. They go first: what is registered first is called first. */
  leaving = [];

  /** start returns a server that answers. It ends with the test, or with the suite whose after is given. */
  static async start(owner, ...flags) {
    const server = new Server();
    server.folder = await mkdtemp(join(tmpdir(), "unloop-e2e-"));
    server.address = await freeAddress();
    server.flags = flags;
    owner.after(async () => {
      try {
        for (const leave of server.leaving) await leave();
      } finally {
        await server.stop();
        await rm(server.folder, { recursive: true, force: true });
      }
    });
    await server.go();
    return server;
  }

  async go() {
    this.running = run("serve", "--addr", this.address, "--grpc-addr", "off", "--db", join(this.folder, "e2e.db"), ...this.flags);
    const { child, said, ended } = this.running;
    await new Promise((resolve, reject) => {
      child.stdout.on("data", () => {
        [, this.url] = /^ *dashboard +(http\S+)\n/m.exec(said.text) ?? [];
        if (this.url) resolve();
      });
      void ended.then((code) => reject(new Error(`unloop serve ended with ${code}: ${said.text}`)));
    });
  }

  async stop() {
    this.running?.child.kill("SIGINT");
    await this.running?.ended;
    this.running = null;
  }

  /** get returns the answer to a question, decoded. */
  async get(path) {
    const answer = await fetch(this.url + path);
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  /** send records events: they are on disk, and on their way to the page, when it returns. */
  async send(events) {
    for (let at = 0; at < events.length; at += 5000) {
      const lines = events.slice(at, at + 5000).map((e) => JSON.stringify(e)).join("\n");
      await this.post("/api/events", lines, "application/x-ndjson");
    }
  }

  async post(path, body, type = "application/json") {
    const answer = await fetch(this.url + path, { method: "POST", body, headers: { "Content-Type": type } });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }
}
