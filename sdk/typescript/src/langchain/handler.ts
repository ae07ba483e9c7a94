// The callback handler records chains, graphs and agents of LangChain on a server.

import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { BoundedMap } from "../adapter.js";
import { warnOnce } from "../log.js";
import { argumentsOf, members, textOf } from "../read.js";
import { currentRun, type EventFields, Run } from "../run.js";
import * as extract from "./extract.js";

/** The custom event of a call that unloopMiddleware blocked. */
export const BLOCKED = "unloop.blocked";

const MAX_FAILED_ATTEMPTS = 1000; // that are kept per call

/** An open call of a tool, a model or a chain. A chain may be a graph or a node of a graph. */
interface OpenCall {
  id: string;
  run: Run;
  parent: OpenCall | undefined;
  owns: boolean; // the run starts and ends with this call
  agent: string | undefined;
  node: string | undefined;
  tool: string | undefined;
  model: string | undefined;
  start: string | undefined; // id of the start event
  startedAt: number;
  calledModel: boolean;
  calledTool: boolean;
  attempt: string | undefined; // key of the attempted work; the same key again within the parent is a retry
  failedAttempts: Set<string>;
  handoffs: Set<string>; // agents that it handed over to
  toolNodes: Set<string>; // its nodes that only run tools
}

interface Given {
  id: string;
  parent: string | undefined;
  tags: string[] | undefined;
  metadata: Record<string, unknown> | undefined;
  name: string;
}

/**
 * Records model calls, tool calls, retries, errors and handoffs: { callbacks: [new UnloopCallbackHandler()] }.
 *
 * The outermost call is a run, with the thread_id as its id if there is one. Within trace() all events belong to that run. One handler
 * serves any number of graphs and threads at once. It never throws and never changes the graph.
 */
export class UnloopCallbackHandler extends BaseCallbackHandler {
  name = "unloop";
  private readonly open = new BoundedMap<OpenCall>();

  constructor() {
    super({ _awaitHandler: true }); // in the background, an end could be recorded before its start
  }

  override handleChainStart(
    chain: unknown,
    inputs: unknown,
    id: string,
    parent?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    _type?: string,
    runName?: string,
  ): void {
    this.safely(() => {
      const call = this.begin({ id, parent, tags, metadata, name: extract.runnableName(chain, runName) });
      const text = call.owns ? extract.userText(inputs) : undefined; // within a trace the input may not be a user's
      if (text !== undefined) call.run.event("message", { role: "user", text });
      if (!tags?.some((tag) => tag.startsWith("graph:step:"))) return;
      call.node = textOf(metadata?.langgraph_node) || undefined;
      this.noteAttempt(call, `task ${metadata?.langgraph_checkpoint_ns}`, call.node);
    });
  }

  override handleChainEnd(outputs: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (call?.node) recordCommands(call, extract.commandTargets(outputs));
      if (call?.owns) call.run.end();
    });
  }

  override handleChainError(error: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (!call) return;
      if (extract.isControlFlow(error)) recordCommands(call, extract.commandTargets(members(error).command));
      this.failed(call, error);
    });
  }

  override handleRetrieverStart(
    retriever: unknown,
    _query: string,
    id: string,
    parent?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
  ): void {
    this.safely(() => void this.begin({ id, parent, tags, metadata, name: extract.runnableName(retriever, runName) }));
  }

  override handleRetrieverEnd(_documents: unknown, id: string): void {
    this.handleChainEnd(undefined, id);
  }

  override handleRetrieverError(error: unknown, id: string): void {
    this.handleChainError(error, id);
  }

  override handleToolStart(
    tool: unknown,
    input: string,
    id: string,
    parent?: string,
    tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
    callId?: string,
  ): void {
    this.safely(() => {
      const name = extract.runnableName(tool, runName);
      const call = this.begin({ id, parent, tags, metadata, name });
      for (let outer = call.parent; outer; outer = outer.parent) outer.calledTool = true;
      if (callId) this.noteAttempt(call, `call ${callId}`, name);
      const args = argumentsOf(input);
      const to = extract.handoffOf(name, args);
      if (to) {
        recordHandoff(call, to);
        return;
      }
      call.tool = name;
      call.start = call.run.event("tool_call_started", { agent: call.agent, tool: name, call_id: id, input: args });
    });
  }

  override handleToolEnd(output: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (!call) return;
      if (call.tool === undefined)
        markHandedOver(call, extract.commandTargets(output)); // the graph may execute the handoff with a command
      else {
        const { value, failed } = extract.toolResult(output);
        this.recordEnd(call, failed ? "tool_call_failed" : "tool_call_completed", failed ? { error: value } : { output: value });
      }
      if (call.owns) call.run.end();
    });
  }

  override handleToolError(error: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (!call) return;
      if (call.tool !== undefined && extract.isControlFlow(error))
        this.recordEnd(call, "tool_call_completed", {}); // it waits for a person
      else if (call.tool !== undefined) this.recordEnd(call, "tool_call_failed", { error });
      this.failed(call, error);
    });
  }

  override handleChatModelStart(
    model: unknown,
    _messages: unknown,
    id: string,
    parent?: string,
    extra?: Record<string, unknown>,
    tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
  ): void {
    this.safely(() => {
      const call = this.begin({ id, parent, tags, metadata, name: extract.runnableName(model, runName) });
      for (let outer = call.parent; outer; outer = outer.parent) outer.calledModel = true;
      call.model = extract.requestedModel(extra, metadata ?? {});
      call.start = call.run.event("llm_call_started", { agent: call.agent, model: call.model });
    });
  }

  override handleLLMStart(
    model: unknown,
    prompts: unknown,
    id: string,
    parent?: string,
    extra?: Record<string, unknown>,
    tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
  ): void {
    this.handleChatModelStart(model, prompts, id, parent, extra, tags, metadata, runName);
  }

  override handleLLMEnd(response: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (!call) return;
      call.model = extract.modelOf(response) ?? call.model;
      this.recordEnd(call, "llm_call_completed", extract.tokensOf(response));
      const text = extract.replies(response).map(extract.messageText).filter(Boolean).join("\n");
      if (text) call.run.event("message", { role: "assistant", agent: call.agent, text });
      if (call.owns) call.run.end();
    });
  }

  override handleLLMError(error: unknown, id: string): void {
    this.safely(() => {
      const call = this.open.take(id);
      if (!call) return;
      this.recordEnd(call, "llm_call_failed", { error });
      this.failed(call, error);
    });
  }

  /** Records a blocked call. It never ran, so it has no other start and end. */
  override handleCustomEvent(
    name: string,
    data: Required<Pick<EventFields, "tool" | "call_id" | "input" | "output">>,
    id: string,
  ): void {
    this.safely(() => {
      const call = this.open.get(id);
      if (name !== BLOCKED || !call) return;
      const of = { agent: call.agent, tool: data.tool, call_id: data.call_id };
      const start = call.run.event("tool_call_started", { ...of, input: data.input });
      call.run.event("tool_call_blocked", { ...of, output: data.output, parent_event_id: start });
    });
  }

  private safely(read: () => void): void {
    try {
      read();
    } catch (error) {
      const kind = error instanceof Error ? error.name : "error";
      warnOnce("langchain", `the callback handler failed to read its input (${kind}); part of the run is missing`);
    }
  }

  private begin({ id, parent: parentId, tags, metadata = {}, name }: Given): OpenCall {
    const parent = parentId ? this.open.get(parentId) : undefined;
    const outer = parent?.run ?? currentRun();
    const call: OpenCall = {
      id,
      run: outer ?? Run.begin(name, { id: extract.sessionId(metadata) }),
      parent,
      owns: !outer,
      agent: extract.agentName(metadata) ?? parent?.agent,
      node: undefined,
      tool: undefined,
      model: undefined,
      start: undefined,
      startedAt: performance.now(),
      calledModel: false,
      calledTool: false,
      attempt: undefined,
      failedAttempts: new Set(),
      handoffs: new Set(),
      toolNodes: new Set(),
    };
    this.open.set(id, call);
    for (let ancestor = parent; ancestor; ancestor = ancestor.parent) this.open.touch(ancestor.id);
    if (tags?.some((tag) => tag.startsWith("retry:attempt:"))) recordRetry(call, name);
    return call;
  }

  private noteAttempt(call: OpenCall, what: string, name: string | undefined): void {
    call.attempt = what;
    if (call.parent?.failedAttempts.has(what)) recordRetry(call, name);
  }

  /** Records the end of a tool or model call. */
  private recordEnd(call: OpenCall, type: string, outcome: EventFields): void {
    const of: EventFields = {
      agent: call.agent,
      model: call.model,
      parent_event_id: call.start,
      latency_ms: performance.now() - call.startedAt,
    };
    if (call.tool !== undefined) Object.assign(of, { tool: call.tool, call_id: call.id });
    call.run.event(type, { ...of, ...outcome });
  }

  /** Records a failed attempt, and ends the run if the call owns it. */
  private failed(call: OpenCall, error: unknown): void {
    const controlFlow = extract.isControlFlow(error);
    const attempts = call.parent?.failedAttempts;
    if (call.attempt && attempts && !controlFlow && attempts.size < MAX_FAILED_ATTEMPTS) attempts.add(call.attempt);
    if (!call.owns) return;
    const { name } = members(error);
    if (controlFlow) call.run.end();
    else if (name === "AbortError")
      call.run.end({ status: "cancelled" }); // the caller left the stream
    else call.run.end({ error: error ?? "undefined" });
  }
}

function recordRetry(call: OpenCall, name: string | undefined): void {
  call.run.event("retry_triggered", { agent: call.agent, name });
}

/** Records commands from one node to another as handoffs. A node that only runs tools is not an agent. */
function recordCommands(call: OpenCall, nodes: string[]): void {
  const graph = call.parent;
  if (call.node && call.calledTool && !call.calledModel) {
    graph?.toolNodes.add(call.node);
    return;
  }
  for (const to of nodes) {
    if (to !== call.node && !call.handoffs.has(to) && !graph?.toolNodes.has(to)) recordHandoff(call, to);
  }
}

function recordHandoff(call: OpenCall, to: string): void {
  call.run.event("handoff_started", { agent: to, metadata: { from: call.agent ?? null } });
  markHandedOver(call, [to]);
}

/** Stores the handoff in all calls around it, so that the command that executes it is not recorded again. */
function markHandedOver(call: OpenCall, to: string[]): void {
  for (let outer: OpenCall | undefined = call; outer; outer = outer.parent) for (const name of to) outer.handoffs.add(name);
}
