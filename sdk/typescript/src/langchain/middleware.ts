// The middleware guards each tool call of an agent, passes warnings to the model, and ends the run on a halt. Decisions are stored in the
// messages, so that a graph can continue in another process.

import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { haltAnswer, refusal } from "../adapter.js";
import { nudgeError } from "../guard/attach.js";
import { Decision, LoopError } from "../guard/decision.js";
import { type Annotations, Guard, type GuardOptions } from "../guard/guard.js";
import { members, textOf } from "../read.js";
import { currentRun } from "../run.js";
import { randomHex } from "../runtime.js";
import * as extract from "./extract.js";
import { BLOCKED } from "./handler.js";

const KEY = "unloop"; // of a decision in a message's response_metadata, which is stored with a message and not sent to models

export interface MiddlewareOptions {
  /** The default is new Guard(). */
  guard?: Guard | GuardOptions;
  /** What a halt does: "end" ends with an answer that contains the reason, "raise" throws LoopError. The default is "end". */
  onHalt?: "end" | "raise";
}

/**
 * Guards an agent of createAgent.
 *
 * A warning is appended to the tool's message. A blocked call does not run, and its message gives the reason. A halt ends the agent with
 * an answer that contains the reason and the model's last text. Each thread is one run of the guard, and each invocation a turn. An
 * invocation without thread_id is a run of its own.
 */
export function unloopMiddleware({ guard = {}, onHalt = "end" }: MiddlewareOptions = {}) {
  if (!["end", "raise"].includes(onHalt)) throw new TypeError(`invalid onHalt "${onHalt}": want "end" or "raise"`);
  const guards = guard instanceof Guard ? guard : new Guard(guard);
  const guardOf = (request: unknown): Guard => {
    const { state, runtime } = members(request);
    return guards.run(runId(state, runtime) ?? guards.id);
  };
  const raise = (decision: Decision | undefined): void => {
    if (decision?.halted && onHalt === "raise") throw new LoopError(decision);
  };
  return createMiddleware({
    name: "unloop",
    stateSchema: z.object({ _unloopRun: z.string().optional() }),
    beforeAgent: async (state, runtime) => {
      const run = runId(state, runtime) ?? randomHex(12);
      if (startsTurn(runtime)) await guards.run(run).user(extract.userText(state));
      return { _unloopRun: run };
    },
    wrapModelCall: async (request, handler) => {
      const halted = haltIn(request.messages);
      raise(halted);
      if (halted) return answer(halted, lastText(request.messages));
      if (request.tools.length === 0) return await handler(request); // what it calls then is its structured answer
      const response = await handler(withNudge(request));
      const text = isAIMessage(response) && response.tool_calls?.length ? extract.messageText(response) : "";
      if (!text) return response; // a message without calls is the final answer
      const decision = await guardOf(request).text(text, { agent: textOf(members(response).name) || undefined });
      raise(decision);
      if (decision.halted) return answer(decision, text);
      if (decision.action !== "allow") Object.assign(response.response_metadata, metadataOf(decision));
      return response;
    },
    wrapToolCall: async (request, handler) => {
      const { name: tool, args, id: wanted = "" } = request.toolCall;
      const run = guardOf(request);
      const call = { id: randomHex(8), annotations: annotationsOf(request.tool) }; // models may use an id twice
      const decision = await run.before(tool, args, call);
      if (decision.stopped) {
        raise(decision);
        const output = decision.result ?? refusal(decision);
        await dispatchCustomEvent(BLOCKED, { tool, call_id: call.id, input: args, output }).catch(() => {}); // there are no callbacks
        return toolMessage(output, decision, tool, wanted);
      }
      const started = performance.now();
      let outcome: ToolMessage | Command;
      try {
        outcome = await handler(request);
      } catch (error) {
        if (extract.isControlFlow(error) || request.runtime.signal?.aborted) throw error;
        const failed = await run.after(tool, args, { error: error ?? "undefined", durationMs: performance.now() - started }, call);
        raise(failed);
        nudgeError(error, failed);
        // The text that LangChain gives a model for an error without middleware.
        return toolMessage(`${error}\n Please fix your mistakes.`, failed, tool, wanted);
      }
      const { value, failed } = extract.toolResult(outcome);
      const ended = failed ? { error: asText(value) } : { result: value };
      const after = await run.after(tool, args, { ...ended, durationMs: performance.now() - started }, call);
      raise(after);
      return nudgedOutcome(outcome, after);
    },
  });
}

/** Returns the guard's run id: that of the agent's state, else the thread, else the current run. */
function runId(state: unknown, runtime: unknown): string | undefined {
  const thread = members(members(runtime).configurable).thread_id;
  return textOf(members(state)._unloopRun) || (thread ? String(thread) : currentRun()?.id);
}

/** Reports whether the invocation starts a turn. An agent within another graph continues that graph's turn. */
function startsTurn(runtime: unknown): boolean {
  return !textOf(members(members(runtime).configurable).checkpoint_ns).includes("|");
}

/** Returns the MCP annotations in a tool's metadata, where the MCP adapters put them. */
function annotationsOf(tool: unknown): Annotations | undefined {
  const metadata = members(members(tool).metadata);
  const { readOnlyHint, idempotentHint } = { ...members(metadata.annotations), ...metadata } as Record<string, unknown>;
  const hints: Annotations = {};
  if (typeof readOnlyHint === "boolean") hints.readOnlyHint = readOnlyHint;
  if (typeof idempotentHint === "boolean") hints.idempotentHint = idempotentHint;
  return Object.keys(hints).length > 0 ? hints : undefined;
}

function metadataOf({ action, code, count, message }: Decision): Record<string, unknown> {
  return { [KEY]: { action, code, count, message } };
}

/** Returns the decision in a message's metadata, or undefined. */
function decisionOf(message: BaseMessage | undefined): Decision | undefined {
  const fields = members(members(message?.response_metadata)[KEY]);
  return ["warn", "block", "halt"].includes(textOf(fields.action)) ? new Decision(fields) : undefined;
}

/** Returns the halt in the last tool messages, or undefined. */
function haltIn(messages: BaseMessage[]): Decision | undefined {
  for (let n = messages.length - 1; n >= 0 && extract.isMessage(messages[n], "tool"); n--) {
    const decision = decisionOf(messages[n]);
    if (decision?.halted) return decision;
  }
  return undefined;
}

/** Returns the request with the warning about the model's last text. The warning is part of this request only. */
function withNudge<Request extends { messages: BaseMessage[] }>(request: Request): Request {
  const decision = decisionOf(request.messages.findLast((message) => extract.isMessage(message, "ai")));
  if (!decision || decision.halted) return request;
  return { ...request, messages: [...request.messages, new HumanMessage(`[loop-guard] ${decision.message}`)] };
}

function isAIMessage(message: unknown): message is AIMessage {
  return extract.isMessage(message, "ai");
}

function answer(decision: Decision, text: string): AIMessage {
  return new AIMessage({ content: haltAnswer(decision, text), response_metadata: metadataOf(decision) });
}

/** Returns the last text of the model in this turn. */
function lastText(messages: BaseMessage[]): string {
  for (const message of messages.toReversed()) {
    if (extract.isMessage(message, "human")) return "";
    if (extract.isMessage(message, "ai") && extract.messageText(message)) return extract.messageText(message);
  }
  return "";
}

/** Returns the message of a call that failed or did not run. */
function toolMessage(content: unknown, decision: Decision, name: string, id: string): ToolMessage {
  const response_metadata = decision.action === "allow" ? {} : metadataOf(decision);
  return new ToolMessage({ content: asText(content), name, tool_call_id: id, status: "error", response_metadata });
}

/** Returns a tool's outcome with the warning in its first tool message. On a halt a command becomes that message. */
function nudgedOutcome(outcome: ToolMessage | Command, decision: Decision): ToolMessage | Command {
  if (decision.action === "allow" && decision.result === undefined) return outcome;
  const [first] = extract.toolMessages(outcome) as unknown as ToolMessage[];
  if (!first) return outcome;
  const message = nudgedMessage(first, decision);
  if (outcome === first || decision.halted) return message;
  const { update } = outcome as Command;
  const replace = (messages: unknown): unknown =>
    Array.isArray(messages) ? messages.map((item) => (item === first ? message : item)) : messages;
  const nudged = Array.isArray(update) ? replace(update) : { ...update, messages: replace(members(update).messages) };
  return new Command({ ...(outcome as Command), update: nudged as Record<string, unknown> });
}

function nudgedMessage(message: ToolMessage, decision: Decision): ToolMessage {
  const note = { type: "text" as const, text: `[loop-guard] ${decision.message}` };
  const whole = decision.result === undefined ? message.content : asText(decision.result);
  const content = Array.isArray(message.content) ? [...message.content, note] : whole;
  const { name, tool_call_id, status, artifact, id } = message;
  const response_metadata = { ...message.response_metadata, ...metadataOf(decision) };
  return new ToolMessage({
    content,
    tool_call_id,
    artifact,
    response_metadata,
    ...(name && { name }),
    ...(status && { status }),
    ...(id && { id }),
  });
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
