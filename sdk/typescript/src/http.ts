// Sends events to a server. A response is reduced to an outcome: whether the sender continues, retries later, or drops these lines.

export type Outcome =
  | { kind: "accepted"; rejected: number; reason: string } // possibly with rejected events
  | { kind: "too large" } // a smaller batch may be accepted
  | { kind: "unavailable"; reason: string; retryAfterMs: number }; // no server, or the server accepts nothing now

const GZIP_FROM = 1024; // characters of a body; a smaller one gains nothing

interface Answer {
  rejected?: number;
  errors?: { field?: string; reason?: string }[];
  detail?: string;
  title?: string;
}

/** Posts lines to a path of the server, and returns the response. */
export async function post(endpoint: string, path: string, token: string, body: string, signal: AbortSignal): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/x-ndjson" };
  if (token) headers.Authorization = `Bearer ${token}`;
  let sent: BodyInit = body;
  if (body.length >= GZIP_FROM && typeof CompressionStream === "function") {
    headers["Content-Encoding"] = "gzip";
    sent = await new Response(new Blob([body]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer();
  }
  return await fetch(endpoint + path, { method: "POST", headers, body: sent, signal });
}

/** Sends events, one per line. Sending an event again is safe: the server ignores ids that it already has. */
export async function sendEvents(endpoint: string, token: string, lines: string[], signal: AbortSignal): Promise<Outcome> {
  let response: Response;
  let answer: Answer;
  try {
    response = await post(endpoint, "/api/events", token, lines.join(""), signal);
    answer = parse(await response.text());
  } catch (error) {
    return { kind: "unavailable", reason: `cannot reach the server at ${endpoint} (${nameOf(error)})`, retryAfterMs: 0 };
  }
  return outcome(response, answer, endpoint);
}

function outcome(response: Response, answer: Answer, endpoint: string): Outcome {
  const { status } = response;
  const [first] = answer.errors ?? [];
  const reason = first ? `${first.field ?? "event"}: ${first.reason ?? ""}` : (answer.detail ?? answer.title ?? "").slice(0, 300);
  if (response.ok) return { kind: "accepted", rejected: answer.rejected ?? 0, reason };
  if (status === 400 && answer.errors?.length) return { kind: "accepted", rejected: answer.errors.length, reason };
  if (status === 400 || status === 413 || status === 422) return { kind: "too large" };
  const retryAfterMs = Math.min(Number(response.headers.get("Retry-After")) || 0, 60) * 1000;
  const denied = status === 401 || status === 403;
  const why = denied ? "denied access, check UNLOOP_TOKEN:" : `returned ${status}`;
  return { kind: "unavailable", reason: `${endpoint} ${why} ${reason || (denied ? status : "")}`.trimEnd(), retryAfterMs };
}

function parse(text: string): Answer {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

/** Returns the code or the name of a failure of fetch. Its message may contain more than a log should. */
export function nameOf(error: unknown): string {
  const cause = (error as { cause?: { code?: string } } | undefined)?.cause;
  return cause?.code ?? (error instanceof Error ? error.name : "error");
}
