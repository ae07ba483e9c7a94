// What agents do, as events and as spans.

const noon = Date.UTC(2026, 4, 1, 12);

/** Agent makes the events of a run, one after another. */
export class Agent {
  constructor(run, { name = run, agent = "worker", project = "e2e", start = noon } = {}) {
    Object.assign(this, { run, name, agent, project, at: start, sequence: 0, calls: 0 });
  }

  event(type, more = {}) {
    this.sequence += 1;
    this.at += 250;
    return {
      event_id: `${this.run}-${this.sequence}`, run_id: this.run, sequence: this.sequence, timestamp: new Date(this.at).toISOString(), type,
      agent: this.agent, project: this.project, ...more,
    };
  }

  begin() {
    return [this.event("run_started", { name: this.name })];
  }

  end(type = "run_completed") {
    return [this.event(type)];
  }

  /** call is a tool call with its outcome; an outcome that is an Error has the call fail. */
  call(tool, input, output, latency_ms = 40) {
    const call_id = `${this.run}-call-${(this.calls += 1)}`;
    const outcome = output instanceof Error ? { error: output.message } : { output };
    const type = output instanceof Error ? "tool_call_failed" : "tool_call_completed";
    return [this.event("tool_call_started", { tool, call_id, input }), this.event(type, { tool, call_id, latency_ms, ...outcome })];
  }

  /** work is n calls, each of which brings something new. */
  work(n) {
    return Array.from({ length: n }, () => this.call("read_file", { path: `src/part-${this.calls}.go` }, `package part${this.calls}`)).flat();
  }

  /** loop is n calls that bring the same each time, but for the time that stands in it. */
  loop(n) {
    return Array.from({ length: n }, () =>
      this.call("search", { query: "why do loops loop" }, { results: [], took: `${this.calls * 7} ms`, at: new Date(this.at).toISOString() }),
    ).flat();
  }

  say(role, text) {
    return [this.event("message", { role, text })];
  }
}

/** spans is a looping agent as OTLP/JSON: an agent span that ends last, and n equal tool calls in it. */
export function spans(agent, n) {
  const traceId = hex(32);
  const root = hex(16);
  const text = (key, stringValue) => ({ key, value: { stringValue } });
  const nano = (ms) => String(BigInt(noon + ms) * 1_000_000n);
  const span = (spanId, name, from, to, attributes, parentSpanId) => ({
    traceId, spanId, parentSpanId, name, kind: 1, startTimeUnixNano: nano(from), endTimeUnixNano: nano(to), attributes,
  });
  const tools = Array.from({ length: n }, (_, i) =>
    span(hex(16), "execute_tool search", 100 * i + 10, 100 * i + 60, [
      text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", "search"), text("gen_ai.tool.call.id", `call-${i}`),
      text("gen_ai.tool.call.arguments", '{"q":"loops"}'), text("gen_ai.tool.call.result", '{"hits":[]}'),
    ], root),
  );
  const whole = span(root, `invoke_agent ${agent}`, 0, 100 * n + 100, [text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", agent)]);
  return { resourceSpans: [{ resource: { attributes: [text("service.name", agent)] }, scopeSpans: [{ scope: { name: "e2e" }, spans: [...tools, whole] }] }] };
}

/** nestedSpans is a planner whose tool asks a researcher, who searches three times, and a writer, as OTLP/JSON. */
export function nestedSpans() {
  const traceId = hex(32);
  const text = (key, stringValue) => ({ key, value: { stringValue } });
  const nano = (ms) => String(BigInt(noon + ms) * 1_000_000n);
  const span = (name, from, to, parentSpanId, ...attributes) => ({
    traceId, spanId: hex(16), parentSpanId, name, kind: 1, startTimeUnixNano: nano(from), endTimeUnixNano: nano(to), attributes,
  });
  const agent = (name, from, to, parent) => span(`invoke_agent ${name}`, from, to, parent, text("gen_ai.operation.name", "invoke_agent"), text("gen_ai.agent.name", name));
  const tool = (name, from, to, parent, input) => span(`execute_tool ${name}`, from, to, parent, text("gen_ai.operation.name", "execute_tool"), text("gen_ai.tool.name", name),
    text("gen_ai.tool.call.id", hex(8)), text("gen_ai.tool.call.arguments", JSON.stringify(input)), text("gen_ai.tool.call.result", '"done"'));
  const planner = agent("planner", 0, 60_000);
  const asks = tool("ask_researcher", 2000, 30_000, planner.spanId, { question: 1 });
  const researcher = agent("researcher", 2100, 29_900, asks.spanId);
  const searches = [3000, 10_000, 20_000].map((at) => tool("search", at, at + 5000, researcher.spanId, { page: at }));
  const writer = agent("writer", 31_000, 59_000, planner.spanId);
  const writes = tool("write", 32_000, 40_000, writer.spanId, { text: "x" });
  return { resourceSpans: [{ resource: { attributes: [text("service.name", "team")] }, scopeSpans: [{ scope: { name: "e2e" }, spans: [planner, asks, researcher, ...searches, writer, writes] }] }] };
}

function hex(digits) {
  return Array.from({ length: digits }, () => Math.floor(Math.random() * 16).toString(16)).join("");
}
