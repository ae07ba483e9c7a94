// A server as the guard: the protocol over HTTP. After a failure it is not asked until a backoff has passed, so that not every call of
// the agent waits for an unavailable server.

import { nameOf, post } from "../http.js";
import { withoutCredentials } from "../settings.js";
import { Transport, Unavailable } from "./transport.js";

const BACKOFF_MS = [1000, 30_000] as const; // first and longest

/** A guard on a server, with a profile and its settings. */
export class Remote extends Transport {
  private readonly endpoint: string;
  private readonly path: string;
  private failures = 0;
  private next = 0;

  constructor(
    endpoint: string,
    private readonly token: string,
    profile: string,
    settings: [string, string][],
  ) {
    super();
    this.endpoint = withoutCredentials(endpoint);
    const query = new URLSearchParams([["profile", profile], ...settings.map(([name, value]) => ["set", `${name}=${value}`])]);
    this.path = `/api/guard?${query}`;
  }

  protected async exchange(lines: string[], timeoutMs: number): Promise<string[]> {
    if (this.failures > 0 && performance.now() < this.next) {
      throw new Unavailable("the server failed recently; the next attempt follows after a backoff");
    }
    let status: number;
    let body: string;
    try {
      const response = await post(this.endpoint, this.path, this.token, lines.join(""), AbortSignal.timeout(timeoutMs));
      status = response.status;
      body = await response.text();
    } catch (error) {
      throw this.failed(`cannot reach the server at ${this.endpoint} (${nameOf(error)})`);
    }
    const answers = body.trimEnd().split("\n");
    if (status !== 200 || answers.length !== lines.length) throw this.failed(`${this.endpoint} returned ${status}`);
    this.failures = 0;
    return answers;
  }

  private failed(why: string): Unavailable {
    const [first, longest] = BACKOFF_MS;
    this.next = performance.now() + Math.min(first * 2 ** Math.min(this.failures, 16), longest);
    this.failures++;
    this.generation++; // the server may have lost the runs
    return new Unavailable(why);
  }
}
