// The child processes `unloop guard`, one per profile and settings. A process that hangs is killed. One that exited is started again
// by the next request, after a backoff.

import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { builtin } from "../runtime.js";
import { GuardUnavailable } from "./decision.js";
import { program } from "./program.js";
import { Transport, Unavailable } from "./transport.js";

const LONGEST_BACKOFF_MS = 60_000;
const STABLE_MS = 10_000; // a process that ran longer resets the backoff
const MAX_STDERR = 10_000; // characters that are kept

const processes = new Map<string, GuardProcess>();

/** Returns the process for a profile and its settings. The first request starts it. */
export function processFor(profile: string, settings: [string, string][]): GuardProcess {
  const flags = ["guard", "--profile", profile, ...settings.map(([name, value]) => `--set=${name}=${value}`)];
  const key = JSON.stringify(flags);
  const process = processes.get(key) ?? new GuardProcess(flags);
  processes.set(key, process);
  return process;
}

/** Ends all processes. For tests. */
export function endProcesses(): void {
  for (const process of processes.values()) process.end();
  processes.clear();
}

interface Request {
  lines: string[]; // the responses so far
  number: number; // of responses that it needs
  resolve: (lines: string[]) => void;
  reject: (error: Unavailable) => void;
  timer: ReturnType<typeof setTimeout>;
}

export class GuardProcess extends Transport {
  private process: ChildProcessWithoutNullStreams | undefined;
  private requests: Request[] = [];
  private unread = "";
  private stderr = "";
  private failures = 0;
  private startedAt = 0;
  private nextStart = 0;
  private reason = "";

  constructor(private readonly flags: string[]) {
    super();
  }

  protected exchange(lines: string[], timeoutMs: number): Promise<string[]> {
    return new Promise((resolve, reject) => {
      const process = this.process ?? this.start();
      // The timer keeps the program alive while it waits; the process itself does not.
      const timer = setTimeout(() => this.fail(process, "the guard timed out"), timeoutMs);
      this.requests.push({ lines: [], number: lines.length, resolve, reject, timer });
      process.stdin.write(lines.join(""));
    });
  }

  private start(): ChildProcessWithoutNullStreams {
    if (performance.now() < this.nextStart) throw new Unavailable(this.reason);
    const node = builtin("node:child_process");
    const detached = globalThis.process?.platform !== "win32"; // Ctrl-C at the terminal is for the agent
    let process: ChildProcessWithoutNullStreams;
    try {
      if (!node) throw new GuardUnavailable("this runtime starts no processes: pass an endpoint");
      process = node.spawn(program(), this.flags, { detached, windowsHide: true, stdio: ["pipe", "pipe", "pipe"] });
    } catch (error) {
      this.recordFailure(error instanceof Error ? error.message : String(error));
      throw new Unavailable(this.reason);
    }
    this.process = process;
    this.startedAt = performance.now();
    this.unread = this.stderr = "";
    process.on("error", (error: NodeJS.ErrnoException) => this.fail(process, `cannot start ${process.spawnfile}: ${error.code}`));
    process.on("close", (code) => this.fail(process, (code === 2 && firstLine(this.stderr)) || "the guard exited"));
    process.stdin.on("error", () => {}); // "close" follows
    process.stdout.setEncoding("utf8").on("data", (text: string) => this.read(process, text));
    process.stderr.setEncoding("utf8").on("data", (text: string) => {
      if (this.stderr.length < MAX_STDERR) this.stderr += text;
    });
    process.unref();
    for (const stream of [process.stdin, process.stdout, process.stderr]) (stream as { unref?: () => void }).unref?.();
    return process;
  }

  private read(process: ChildProcessWithoutNullStreams, text: string): void {
    if (process !== this.process) return;
    const lines = (this.unread ? this.unread + text : text).split("\n");
    this.unread = lines.pop() ?? "";
    for (const line of lines) {
      const [request] = this.requests;
      if (!request) continue;
      request.lines.push(line);
      if (request.lines.length < request.number) continue;
      this.requests.shift();
      clearTimeout(request.timer);
      request.resolve(request.lines);
    }
  }

  /** Ends a failed process and rejects its requests. */
  private fail(process: ChildProcessWithoutNullStreams, why: string): void {
    if (process !== this.process) return;
    this.recordFailure(why);
    this.process = undefined;
    process.kill("SIGKILL");
    const { requests } = this;
    this.requests = [];
    for (const request of requests) {
      clearTimeout(request.timer);
      request.reject(new Unavailable(why));
    }
  }

  private recordFailure(why: string): void {
    const now = performance.now();
    const stable = this.process !== undefined && now - this.startedAt > STABLE_MS;
    this.failures = stable ? 1 : this.failures + 1;
    this.nextStart = now + Math.min((2 ** (this.failures - 1) - 1) * 1000, LONGEST_BACKOFF_MS);
    this.generation++;
    this.reason = why;
  }

  end(): void {
    const { process } = this;
    this.process = undefined;
    process?.kill("SIGKILL");
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0]?.slice(0, 300) ?? "";
}
