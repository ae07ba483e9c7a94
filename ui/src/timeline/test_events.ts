// Events for tests, as the server sends them.
import type { Analysis, Event } from "../api/names";

let made = 0;

/** event returns an event with the given members; the other members are null. */
export function event(members: Partial<Event>): Event {
  made++;
  return {
    event_id: `e${made}`, run_id: "r", sequence: null, timestamp: "2026-03-09T14:02:00Z", type: "message", agent: null, name: null, status: null,
    model: null, tool: null, input: null, output: null, error: null, tokens: null, cost: null, latency_ms: null, parent_event_id: null, span_id: null,
    trace_id: null, metadata: null, call_id: null, role: null, text: null, content: null, usage: null, annotations: null, analysis: null, ...members,
  };
}

/** call returns the start and the outcome of a tool call, with the identities that the server would give them. */
export function call(tool: string, input: unknown, output: unknown, more: Analysis = {}): Event[] {
  const call_id = `c${++made}`;
  const identity = `${tool} ${JSON.stringify(input)}`;
  const start = event({ type: "tool_call_started", tool, input, call_id, analysis: { call: identity } });
  const analysis = { call: identity, call_event_id: start.event_id, result: JSON.stringify(output), ...more };
  return [start, event({ type: "tool_call_completed", tool, output, call_id, analysis })];
}
