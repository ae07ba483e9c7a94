/**
 * unloop for the OpenAI Agents SDK. Recorder sends the SDK's traces to the server: addTraceProcessor(new Recorder()). LoopGuard guards each
 * tool call with the SDK's tool guardrails: new LoopGuard().protect(agent). Each works without the other.
 *
 * @packageDocumentation
 */

import {
  Agent,
  type FunctionCallItem,
  type FunctionTool,
  getCurrentSpan,
  getCurrentTrace,
  type RunContext,
  type Span,
  type ToolGuardrailFunctionOutput,
  ToolGuardrailFunctionOutputFactory,
  type ToolInputGuardrailDefinition,
  type ToolInputGuardrailFunction,
  type ToolOutputGuardrailDefinition,
  type ToolOutputGuardrailFunction,
  type Trace,
  type TracingProcessor,
} from "@openai/agents";
import { BoundedMap, count } from "./adapter.js";
import { Decision } from "./guard/decision.js";
import { type Call, Guard, type GuardOptions } from "./guard/guard.js";
import { warnOnce } from "./log.js";
import { argumentsOf, type Fields, members, textOf } from "./read.js";
import { currentRun, type EventFields, Run, type Usage } from "./run.js";
import { randomHex } from "./runtime.js";

/** A call as the guard saw it. The trace contains only the result for the model, which includes the warning. */
interface GuardedCall {
  output: unknown;
  blocked: boolean;
  halted: string; // why the run ends, or "" if it continues
}

const NO_TRACE = "no-op"; // the id that the SDK gives where tracing is disabled

const guardedCalls = new BoundedMap<GuardedCall>();
let recording = false;

/**
 * Records agents, model calls with their tokens, tool calls, handoffs and errors.
 *
 * Each trace is a run. The run's id is the trace's groupId if it is set, so that all traces of a conversation are one run. Within trace() of
 * this package, events belong to that run. A tool call is recorded when it ends, because its arguments are unknown before.
 */
export class Recorder implements TracingProcessor {
  private readonly runs = new BoundedMap<{ run: Run; owns: boolean }>();
  private readonly agents = new BoundedMap<string>();
  private readonly calls = new BoundedMap<string>();
  private readonly failures = new BoundedMap<string>();

  constructor() {
    recording = true;
  }

  async onTraceStart({ traceId, groupId, name, metadata }: Trace): Promise<void> {
    safely(() => {
      const outer = currentRun();
      const run = outer ?? Run.begin(name, { id: groupId || traceId, metadata });
      this.runs.set(traceId, { run, owns: !outer });
    });
  }

  async onTraceEnd({ traceId }: Trace): Promise<void> {
    safely(() => {
      this.end(traceId);
      this.runs.take(traceId);
    });
  }

  private end(traceId: string): void {
    const found = this.runs.get(traceId);
    const error = this.failures.take(traceId);
    if (found?.owns) found.run.end({ error });
  }

  async onSpanStart(span: Span<never>): Promise<void> {
    safely(() => {
      const run = this.runs.get(span.traceId)?.run;
      const data = members(span.spanData);
      const agent = data.type === "agent" ? textOf(data.name) : this.agentOf(span);
      this.agents.set(span.spanId, agent);
      if (run && isModelCall(data))
        this.calls.set(span.spanId, run.event("llm_call_started", { agent, model: textOf(data.model) }));
    });
  }

  async onSpanEnd(span: Span<never>): Promise<void> {
    safely(() => {
      const run = this.runs.get(span.traceId)?.run;
      const data = members(span.spanData);
      const agent = this.agents.take(span.spanId) ?? "";
      if (!run) return;
      if (data.type === "function") this.tool(run, span, data, agent);
      else if (isModelCall(data)) this.model(run, span, data, agent);
      else if (data.type === "handoff" && data.to_agent) {
        run.event("handoff_started", { agent: textOf(data.to_agent), metadata: { from: data.from_agent ?? null } });
      } else if (data.type === "agent" && span.error) this.fail(span.traceId, errorOf(span));
      // The SDK does not end the trace of a run that failed.
      if (!span.parentId && this.failures.get(span.traceId) !== undefined) this.end(span.traceId);
    });
  }

  private tool(run: Run, span: Span<never>, data: Fields, agent: string): void {
    const of = { agent, tool: textOf(data.name), call_id: span.spanId };
    const guarded = guardedCalls.take(span.spanId);
    const output = guarded ? guarded.output : data.output;
    const timestamp = span.startedAt ? new Date(span.startedAt) : undefined;
    const parent_event_id = run.event("tool_call_started", { ...of, input: argumentsOf(data.input), timestamp });
    if (guarded?.halted) this.fail(span.traceId, guarded.halted);
    if (span.error && !guarded?.blocked && !guarded?.halted) {
      run.event("tool_call_failed", { ...of, error: textOf(guarded?.output) || errorOf(span), parent_event_id });
      return;
    }
    run.event(guarded?.blocked ? "tool_call_blocked" : "tool_call_completed", { ...of, output: output ?? null, parent_event_id });
  }

  private model(run: Run, span: Span<never>, data: Fields, agent: string): void {
    const response = members(data._response);
    const of: EventFields = {
      agent,
      model: textOf(data.model) || textOf(response.model),
      parent_event_id: this.calls.take(span.spanId),
    };
    const input = data._input ?? data.input;
    const last = Array.isArray(input) ? input.at(-1) : input;
    if (typeof last === "string" || members(last).role === "user") {
      run.event("message", { role: "user", text: textOf(last) || contentText(members(last).content) });
    }
    if (span.error) run.event("llm_call_failed", { ...of, error: errorOf(span) });
    else run.event("llm_call_completed", { ...of, ...tokensOf(members(data.usage ?? response.usage)) });
  }

  private agentOf(span: Span<never>): string {
    return this.agents.get(span.parentId ?? "") ?? "";
  }

  private fail(traceId: string, why: string): void {
    if (this.failures.get(traceId) === undefined) this.failures.set(traceId, why);
  }

  /** Does nothing: events are not buffered here. */
  async forceFlush(): Promise<void> {}

  /** Does nothing: events are not buffered here. */
  async shutdown(): Promise<void> {}
}

function safely(read: () => void): void {
  try {
    read();
  } catch (error) {
    const kind = error instanceof Error ? error.name : "error";
    warnOnce("openai-agents", `the recorder failed to read a span (${kind}); part of the run is missing`);
  }
}

function isModelCall({ type }: Fields): boolean {
  return type === "generation" || type === "response";
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => textOf(members(part).text)).join("");
}

function tokensOf(given: Fields): { tokens?: number; usage: Usage } {
  const input = { ...members(given.input_tokens_details), ...members(given.prompt_tokens_details) } as Fields;
  const output = { ...members(given.output_tokens_details), ...members(given.completion_tokens_details) } as Fields;
  const usage = {
    input_tokens: count(given.input_tokens ?? given.prompt_tokens),
    output_tokens: count(given.output_tokens ?? given.completion_tokens),
    cached_input_tokens: count(input.cached_tokens),
    cache_write_tokens: count(input.cache_write_tokens),
    reasoning_tokens: count(output.reasoning_tokens),
  };
  const tokens = count(given.total_tokens) || usage.input_tokens + usage.output_tokens;
  return tokens > 0 ? { tokens, usage } : { usage };
}

/** Returns the text of a span's error, with the tool's own text from its data. */
function errorOf(span: Span<never>): string {
  const message = span.error?.message || "error";
  const reason = textOf(span.error?.data?.error);
  return reason ? `${message}: ${reason}` : message;
}

/** Returns the decision of a LoopGuard that ended a run with this error, or undefined for other errors. */
export function haltOf(error: unknown): Decision | undefined {
  const { error: inner, cause, result } = members(error);
  const decision = members(members(result).output).outputInfo;
  if (decision instanceof Decision) return decision;
  return inner || cause ? haltOf(inner ?? cause) : undefined; // the SDK wraps the errors of tools
}

type GuardedAgent = Agent<never, never>;

/**
 * Guards each tool call. The runs of one LoopGuard are judged separately.
 *
 * A blocked call returns the guard's answer as its result. A warning is attached to the result. On a halt the run rejects with the error of
 * a tool guardrail; haltOf(error) returns the decision.
 */
export class LoopGuard {
  /** The guardrails, for tools that are guarded one by one. */
  readonly input: ToolInputGuardrailDefinition;
  readonly output: ToolOutputGuardrailDefinition;
  private readonly guard: Guard;
  private readonly runs = new WeakMap<object, string>();

  constructor(guard: Guard | GuardOptions = {}) {
    this.guard = guard instanceof Guard ? guard : new Guard(guard);
    this.input = { type: "tool_input", name: "unloop", run: (data) => this.before(data) };
    this.output = { type: "tool_output", name: "unloop", run: (data) => this.after(data) };
  }

  /** Adds the guard to the function tools of the agent, and of all agents that it hands over to. It returns the same agent. */
  protect<Protected extends { tools: unknown[]; handoffs: unknown[] }>(agent: Protected, done = new Set<unknown>()): Protected {
    if (done.has(agent)) return agent;
    done.add(agent);
    for (const tool of agent.tools as FunctionTool[]) {
      if (tool.type !== "function" || tool.inputGuardrails?.includes(this.input)) continue;
      tool.inputGuardrails = [...(tool.inputGuardrails ?? []), this.input];
      tool.outputGuardrails = [...(tool.outputGuardrails ?? []), this.output];
    }
    for (const handoff of agent.handoffs) {
      const other = handoff instanceof Agent ? handoff : members(handoff).agent;
      if (other instanceof Agent) this.protect(other as unknown as GuardedAgent, done);
    }
    return agent;
  }

  private async before({
    context,
    agent,
    toolCall,
  }: Parameters<ToolInputGuardrailFunction>[0]): Promise<ToolGuardrailFunctionOutput> {
    const decision = await this.guard
      .run(this.runOf(context))
      .before(toolCall.name, argumentsOf(toolCall.arguments), call(toolCall, agent));
    if (decision.stopped) remember({ output: decision.result, blocked: true, halted: decision.halted ? decision.message : "" });
    return answer(decision);
  }

  private async after({
    context,
    agent,
    toolCall,
    output,
  }: Parameters<ToolOutputGuardrailFunction>[0]): Promise<ToolGuardrailFunctionOutput> {
    const guard = this.guard.run(this.runOf(context));
    const outcome = { result: output ?? null };
    const decision = await guard.after(toolCall.name, argumentsOf(toolCall.arguments), outcome, call(toolCall, agent));
    remember({ output, blocked: false, halted: decision.halted ? decision.message : "" });
    // A result cannot hold both an image or a file and a text.
    return !decision.halted && isMedia(output) ? ToolGuardrailFunctionOutputFactory.allow(decision) : answer(decision);
  }

  /** Returns the run id of a call: the current run, else the trace, else one for each run of the SDK. */
  private runOf(context: RunContext<unknown>): string {
    const traceId = getCurrentTrace()?.traceId;
    const known = currentRun()?.id ?? (traceId === NO_TRACE ? undefined : traceId) ?? this.runs.get(context);
    if (known) return known;
    const made = randomHex(12);
    this.runs.set(context, made);
    return made;
  }
}

function call({ callId }: FunctionCallItem, { name }: { name: string }): Call {
  return { id: callId, agent: name };
}

function answer(decision: Decision): ToolGuardrailFunctionOutput {
  if (decision.halted) return ToolGuardrailFunctionOutputFactory.throwException(decision);
  if (decision.result === undefined) return ToolGuardrailFunctionOutputFactory.allow(decision);
  const content = typeof decision.result === "string" ? decision.result : JSON.stringify(decision.result);
  return ToolGuardrailFunctionOutputFactory.rejectContent(content, decision);
}

function remember(guarded: GuardedCall): void {
  const span = getCurrentSpan();
  if (recording && span?.spanData?.type === "function") guardedCalls.set(span.spanId, guarded);
}

function isMedia(output: unknown): boolean {
  const parts = Array.isArray(output) ? output : [output];
  return parts.some((part) => ["image", "file"].includes(textOf(members(part).type)));
}
