import type { Act, Alert, AlertTest, Applied, Comparison, ControlState, Decision, Json, Metrics, NewAct, NewAlert, NewOrder, Overview, Profile, Replay, Review, Rule, RunDetails, RunSummary, Shadow, ShadowRuns, Suggestion, Suggestions, Warning } from "./names";
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

/** askWithRetry repeats a request while the server is busy. It replays one run at a time, and an abandoned replay may still be running. */
async function askWithRetry(path: string, init: RequestInit): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await ask(path, init);
    } catch (e) {
      if (!(e instanceof Failure) || e.status !== 429 || attempt === 5) throw e;
      await new Promise((resolve) => setTimeout(resolve, 300 * attempt));
    }
  }
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(path, { signal })).json()) as T;
}

async function post<T>(path: string, body: unknown): Promise<T> {
  const answer = await ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  return (await answer.json()) as T;
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
  controlState: (id: string, signal?: AbortSignal) => get<ControlState>(`${run(id)}/control`, signal),
  control: async (id: string, order: NewOrder): Promise<void> => {
    await ask(`${run(id)}/control`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order) });
  },
  compare: (a: string, b: string, signal?: AbortSignal) => get<Comparison>(`/api/compare?${new URLSearchParams({ a, b })}`, signal),
  overview: (query: URLSearchParams, signal?: AbortSignal) => get<Overview>(`/api/overview?${query}`, signal),
  rules: (signal?: AbortSignal) => get<Rule[]>("/api/rules", signal),
  profiles: (signal?: AbortSignal) => get<Profile[]>("/api/profiles", signal),
  review: (id: string, signal?: AbortSignal) => get<Review>(`${run(id)}/review`, signal),
  act: (act: NewAct) => post<Act>("/api/acts", act),
  acts: (cursor: string, signal?: AbortSignal) => page<Act>("/api/acts", new URLSearchParams(cursor ? { cursor } : {}), signal),
  mutes: (signal?: AbortSignal) => get<Act[]>("/api/mutes", signal),
  alerts: (signal?: AbortSignal) => get<Alert[]>("/api/alerts", signal),
  addAlert: (alert: NewAlert) => post<Alert>("/api/alerts", alert),
  changeAlert: (id: string, alert: NewAlert) => post<Alert>(`/api/alerts/${id}`, alert),
  testAlert: async (id: string) => (await (await ask(`/api/alerts/${id}/test`, { method: "POST" })).json()) as AlertTest,
  removeAlert: async (id: string) => void (await ask(`/api/alerts/${id}`, { method: "DELETE" })),
  suggestions: async (signal?: AbortSignal) => (await (await askWithRetry("/api/suggestions", { signal })).json()) as Suggestions,
  apply: ({ tool, setting, value }: Suggestion) => post<Applied>("/api/suggestions/apply", { tool, setting, value }),
  shadowRuns: (query: URLSearchParams, signal?: AbortSignal) => get<ShadowRuns>(`/api/shadow?${query}`, signal),
  shadow: async (id: string, signal?: AbortSignal) => (await (await askWithRetry(`${run(id)}/shadow`, { signal })).json()) as Shadow,
  remove: async (id: string) => void (await ask(run(id), { method: "DELETE" })),
  /** The events of a run as they were recorded, one per line. */
  lines: async (id: string): Promise<Blob> => {
    const parts: Blob[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const answer: Response = await ask(`${run(id)}/events?${new URLSearchParams(cursor ? { cursor } : {})}`, { headers: { Accept: "application/x-ndjson" } });
      parts.push(await answer.blob());
      cursor = answer.headers.get("X-Next-Cursor");
    }
    return new Blob(parts, { type: "application/x-ndjson" });
  },
  replay: async (id: string, profile: string, settings: Record<string, Json>, signal?: AbortSignal) =>
    (await (
      await askWithRetry(`${run(id)}/replay`, {
        method: "POST",
        signal,
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ profile: profile || undefined, settings }),
      })
    ).json()) as Replay,
};
