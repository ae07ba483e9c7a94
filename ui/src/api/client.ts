import type { Comparison, Decision, Overview, Json, Metrics, Profile, Replay, Rule, RunDetails, RunSummary, Warning } from "./names";
import { segmentOf } from "../route/segment";
import { token } from "./token.svelte";

/** Failure is an error response of the server. Its message is shown to the reader. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly field = "",
  ) {
    super(message);
  }
}

export function headers(more: Record<string, string> = {}): Headers {
  const h = new Headers(more);
  if (token.value) h.set("Authorization", `Bearer ${token.value}`);
  return h;
}

/** failureOf reads why a request failed. A response without a problem document is described by its status. */
export async function failureOf(answer: Response): Promise<Failure> {
  let text = `The server responded with status ${answer.status}.`;
  let field = "";
  let reason = "";
  try {
    const problem = (await answer.json()) as { detail?: unknown; field?: unknown; reason?: unknown };
    if (typeof problem.detail === "string") text = problem.detail;
    if (typeof problem.field === "string") field = problem.field;
    if (typeof problem.reason === "string") reason = problem.reason;
  } catch {
    // no JSON: the message names the status
  }
  if (answer.status === 401 || (answer.status === 403 && field === "Authorization")) token.refuse(reason);
  return new Failure(text, answer.status, field);
}

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, headers: headers({ Accept: "application/json", ...(init.headers as object) }) });
  } catch (e) {
    if (init.signal?.aborted) throw e;
    throw new Failure("The server does not respond. Check that unloop serve is running.", 0);
  }
  if (!answer.ok) throw await failureOf(answer);
  return answer;
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { signal })).json()) as T;
}

const run = (id: string): string => `/api/runs/${segmentOf(id)}`;

export interface Page<T> {
  items: T[];
  next: string | null;
  /** The number of items on all pages, on the first page of a list that counts them. */
  total: number | null;
}

function numberOrNull(text: string | null): number | null {
  return text ? Number(text) : null;
}

async function page<T>(path: string, query: URLSearchParams, signal?: AbortSignal): Promise<Page<T>> {
  const answer = await ask(`${path}?${query}`, { signal });
  return { items: (await answer.json()) as T[], next: answer.headers.get("X-Next-Cursor"), total: numberOrNull(answer.headers.get("X-Total-Count")) };
}

export const api = {
  runs: (query: URLSearchParams, signal?: AbortSignal) => page<RunSummary>("/api/runs", query, signal),
  run: (id: string, signal?: AbortSignal) => get<RunDetails>(run(id), signal),
  metrics: (id: string, signal?: AbortSignal) => get<Metrics>(`${run(id)}/metrics`, signal),
  warnings: (id: string, signal?: AbortSignal) => get<Warning[]>(`${run(id)}/warnings`, signal),
  decisions: (id: string, signal?: AbortSignal) => get<Decision[]>(`${run(id)}/decisions`, signal),
  compare: (a: string, b: string, signal?: AbortSignal) => get<Comparison>(`/api/compare?${new URLSearchParams({ a, b })}`, signal),
  overview: (query: URLSearchParams, signal?: AbortSignal) => get<Overview>(`/api/overview?${query}`, signal),
  rules: (signal?: AbortSignal) => get<Rule[]>("/api/rules", signal),
  profiles: (signal?: AbortSignal) => get<Profile[]>("/api/profiles", signal),
  replay: async (id: string, profile: string, settings: Record<string, Json>, signal?: AbortSignal) =>
    (await (
      await ask(`${run(id)}/replay`, {
        method: "POST",
        signal,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ profile: profile || undefined, settings }),
      })
    ).json()) as Replay,
};
