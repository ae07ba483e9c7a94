// Shared by the tests: the program unloop, built from this tree, its servers, and a reset of the package before each test.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server as HTTPServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach } from "node:test";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { configure, flush as flushWithin, forgetSender, shutdown } from "../src/core.js";
import { endProcesses } from "../src/guard/child.js";
import { forgetWarnings } from "../src/log.js";
import { forgetSettings } from "../src/settings.js";

/** The root of the repository. The tests run in sdk/typescript. */
export const root = resolve("../..");

/** The path of the program, which run-tests builds. */
export const unloop = process.env.UNLOOP_TEST_PROGRAM ?? join(root, "bin/unloop");

/** The messages that the package has logged in this test. */
export const said: string[] = [];

const execute = promisify(execFile);
const cleanups: (() => unknown)[] = [];

/** Calls act at the end of the test. */
export function atEnd(act: () => unknown): void {
  cleanups.push(act);
}

/** Resets the package before each test, and sets the path of the program for its guards. */
export function alone(): void {
  beforeEach(() => {
    for (const name of Object.keys(process.env))
      if (name.startsWith("UNLOOP_") && !name.startsWith("UNLOOP_TEST_")) delete process.env[name];
    process.env.UNLOOP_BIN = unloop;
    forgetSettings();
    forgetWarnings();
    said.length = 0;
    configure({ log: (message) => said.push(message) });
  });
  afterEach(async () => {
    await shutdown(0);
    forgetSender();
    endProcesses();
    for (const act of cleanups.splice(0).reverse()) await act();
  });
}

/** Sets an environment variable for this test. */
export function setEnvironment(name: string, value: string): void {
  const before = process.env[name];
  process.env[name] = value;
  atEnd(() => {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  });
}

/** Returns a new folder, which is removed at the end of the test. */
export function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), "unloop-typescript."));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Waits until the server has all events, for as long as a busy machine takes. */
export const flush = (): Promise<boolean> => flushWithin(60_000);

export interface Recorded {
  id: string;
  type: string;
  agent: string | null;
  tool: string | null;
  call_id: string | null;
  input: unknown;
  output: unknown;
  error: unknown;
  text: string | null;
  role: string | null;
  model: string | null;
  tokens: number | null;
  usage: Record<string, number> | null;
  metadata: Record<string, unknown> | null;
  [field: string]: unknown;
}

export interface Warning {
  type: string;
  subject: string;
  count: number;
}

/** The types of the events of a run whose model calls a tool and answers. */
export const ONE_CALL_THEN_ANSWER = [
  "run_started",
  "message",
  "llm_call_started",
  "llm_call_completed",
  "tool_call_started",
  "tool_call_completed",
  "llm_call_started",
  "llm_call_completed",
  "message",
  "run_completed",
];

/** The rule of the progress meter. It may fire together with the rule for the shape of a loop. */
export const METER = "stalled_steps";

/** A real server on a free port of the loopback, with a database of its own. */
export class Server {
  readonly folder = temporary();
  private process: ChildProcess | undefined;
  url = ""; // once it has started

  async start(...flags: string[]): Promise<this> {
    const command = ["serve", "--addr", "127.0.0.1:0", "--grpc-addr", "off", "--db", join(this.folder, "unloop.db"), ...flags];
    const child = spawn(unloop, command, { cwd: this.folder, stdio: ["ignore", "pipe", "ignore"] });
    this.process = child;
    atEnd(() => child.kill("SIGKILL"));
    let printed = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    const address = /^ *dashboard +(http\S+)\n/m;
    await until(() => address.test(printed));
    this.url = address.exec(printed)?.[1] ?? "";
    return this;
  }

  async stop(): Promise<void> {
    const child = this.process;
    if (!child) return;
    const closed = new Promise((done) => child.on("close", done));
    child.kill("SIGTERM");
    await closed;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the tests compare the server's answers
  async get(path: string): Promise<any> {
    try {
      const response = await fetch(this.url + path);
      return response.ok ? await response.json() : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns the events of a run, without the reports of its guard. */
  async events(run: string): Promise<Recorded[]> {
    const all: Recorded[] = (await this.get(`/api/runs/${encodeURIComponent(run)}/events?limit=1000`)) ?? [];
    return all.filter((event) => event.type !== "guard_decision");
  }

  async warnings(run: string): Promise<Warning[]> {
    return (await this.get(`/api/runs/${encodeURIComponent(run)}/warnings`)) ?? [];
  }

  /** Returns the rules that warned of a run, apart from the progress meter. */
  async rules(run: string): Promise<string[]> {
    return (await this.warnings(run))
      .map((warning) => warning.type)
      .filter((rule) => rule !== METER)
      .sort();
  }
}

/** Starts a server, to which the package sends. */
export async function startServer(...flags: string[]): Promise<Server> {
  const server = await new Server().start(...flags);
  configure({ endpoint: server.url });
  return server;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Waits until a condition holds that another process causes. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await isTrue())) {
    if (Date.now() > end) throw new Error("the condition does not hold after a minute");
    await new Promise((done) => setTimeout(done, 10)); // between two looks
  }
}

export interface Request {
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server with scripted answers: a failing server, or the API of a model. */
export class Scripted {
  readonly requests: Request[] = [];
  private server: HTTPServer | undefined;

  constructor(private readonly answer: (request: Request, response: ServerResponse) => void | Promise<void>) {}

  async start(): Promise<this> {
    const server = createServer(async (incoming, response) => {
      const parts: Buffer[] = [];
      for await (const part of incoming) parts.push(part as Buffer);
      const data = Buffer.concat(parts);
      const body = (incoming.headers["content-encoding"] === "gzip" ? gunzipSync(data) : data).toString();
      const request = { path: incoming.url ?? "", headers: incoming.headers, body };
      this.requests.push(request);
      await this.answer(request, response);
    });
    this.server = server;
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    atEnd(() => {
      server.closeAllConnections();
      server.close();
    });
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server?.address() as AddressInfo | undefined)?.port}`;
  }
}

/** Answers with JSON. */
export function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Returns the ```ts blocks of a page, such as docs/typescript.md. */
export function blocks(page: string): string[] {
  return Array.from(readFileSync(join(root, page), "utf8").matchAll(/^```ts\n(.*?)^```$/gms), ([, code]) => code ?? "");
}

/** Compiles programs, by their file names, in a folder where they import the package by its name. Returns the folder of the results. */
export async function compile(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(resolve("build/examples."));
  for (const [name, code] of Object.entries(files)) writeFileSync(join(folder, name), code);
  const compilerOptions = { rootDir: ".", outDir: "out", allowJs: true, checkJs: false, declaration: false, noImplicitAny: false };
  const project = { extends: resolve("tsconfig.json"), compilerOptions, include: ["*.ts", "*.js"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project));
  await execute("node_modules/.bin/tsc", ["--project", folder]);
  return join(folder, "out");
}

/** Runs a compiled program in a process of its own, and returns what it printed. */
export async function run(path: string, environment: Record<string, string>): Promise<string> {
  const env = { ...process.env, UNLOOP_BIN: unloop, ...environment };
  return (await execute(process.execPath, [path], { env, timeout: 180_000 })).stdout;
}
