// Extracts names, texts, results and usage from LangChain's objects. The functions make no assumptions about their shape.

import { count } from "../adapter.js";
import { type Fields, members, textOf } from "../read.js";
import type { Usage } from "../run.js";
import { isPlain } from "../serialize.js";

const MAX_COMMANDS = 256; // commands of one tool or node that are read
const SESSION_KEYS = ["session_id", "conversation_id", "thread_id"]; // in the order in which OpenInference looks for them

/** Returns the id of the conversation, which is the id of the run, or undefined. */
export function sessionId(metadata: Fields): string | undefined {
  const key = SESSION_KEYS.find((name) => metadata[name]);
  return key ? String(metadata[key]) : undefined;
}

/** Returns the name of the agent: that of createAgent, else the node of the outermost graph. */
export function agentName(metadata: Fields): string | undefined {
  const outermost = textOf(metadata.langgraph_checkpoint_ns).split("|", 1)[0]?.split(":", 1)[0];
  return textOf(metadata.lc_agent_name) || outermost || textOf(metadata.langgraph_node) || undefined;
}

/** Returns the name of a runnable. */
export function runnableName(serialized: unknown, runName: string | undefined): string {
  const { name, id } = members(serialized);
  return runName || textOf(name) || (Array.isArray(id) && textOf(id.at(-1))) || "langchain";
}

/** Returns the agent that a tool hands over to, or "". The rules are those of the server for traces. */
export function handoffOf(tool: string, args: unknown): string {
  const prefix = ["transfer_back_to_", "transfer_to_", "handoff_to_"].find((start) => tool.startsWith(start));
  if (!prefix) return "";
  const to = tool.slice(prefix.length);
  return (to === "agent" && textOf(members(args).agent_name)) || to;
}

/** Returns the nodes that the commands in an output go to, without the end of the graph. */
export function commandTargets(output: unknown): string[] {
  const targets = listOf(output).flatMap((command) => {
    const { goto } = members(command);
    return (Array.isArray(goto) ? goto : [goto]).map((to) => textOf(to) || textOf(members(to).node));
  });
  return targets.filter((name) => name && !name.startsWith("__"));
}

function listOf(output: unknown): unknown[] {
  return Array.isArray(output) ? output.slice(0, MAX_COMMANDS) : [output];
}

/** Reports whether value is a message of this type, such as "tool". */
export function isMessage(value: unknown, type: string): value is Fields & { content: unknown } {
  const message = members(value);
  return "content" in message && (message.type === type || (typeof message.getType === "function" && message.getType() === type));
}

/** Returns the tool messages in a tool's output: a message, a command with messages, or a list of both. */
export function toolMessages(output: unknown): (Fields & { content: unknown })[] {
  return listOf(output).flatMap((item) => {
    if (isMessage(item, "tool")) return [item];
    const { goto, update } = members(item);
    if (goto === undefined && update === undefined) return [];
    const messages = Array.isArray(update) ? update : members(update).messages;
    return listOf(messages).filter((message) => isMessage(message, "tool")) as (Fields & { content: unknown })[];
  });
}

/** Returns a tool's result for the model, and whether it is an error. Ids that differ between calls are left out. */
export function toolResult(output: unknown): { value: unknown; failed: boolean } {
  const [message] = toolMessages(output);
  if (message) return { value: message.content, failed: message.status === "error" };
  return { value: commandTargets(output).length > 0 ? undefined : output, failed: false };
}

/** Returns the text of a message or of its content, without tool calls and reasoning. */
export function messageText(message: unknown): string {
  const content = isPlain(message) || typeof message === "object" ? (members(message).content ?? message) : message;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((block) => textOf(block) || (members(block).type === "text" ? textOf(members(block).text) : "")).join("");
}

/** Returns the user's text at the end of a graph's input, or undefined. */
export function userText(inputs: unknown): string | undefined {
  const messages = members(inputs).messages ?? members(inputs).input ?? inputs;
  const last = Array.isArray(messages) ? messages.at(-1) : messages;
  if (typeof last === "string") return last;
  if (isMessage(last, "human")) return messageText(last);
  const { role, type, content } = members(last);
  if (["user", "human"].includes(textOf(role ?? type))) return messageText(content);
  return Array.isArray(last) && last.length === 2 && ["user", "human"].includes(last[0]) ? messageText(last[1]) : undefined;
}

/** Returns the first message of each answer of a model. */
export function replies(response: unknown): Fields[] {
  const generations = members(response).generations;
  const firsts = (Array.isArray(generations) ? generations : []).map((some) => members(Array.isArray(some) ? some[0] : undefined));
  return firsts.map((first) => members(first.message ?? { content: first.text }));
}

/** Returns the tokens of a model call, in total and by kind. Counts that the provider does not report are left out. */
export function tokensOf(response: unknown): { tokens?: number; usage?: Usage } {
  const reported = replies(response).flatMap((message) => (isPlain(message.usage_metadata) ? [message.usage_metadata] : []));
  if (reported.length === 0) {
    const total = count(members(members(members(response).llmOutput).tokenUsage).totalTokens);
    return total > 0 ? { tokens: total } : {};
  }
  const sum = (read: (usage: Fields) => unknown): number => reported.reduce((total, usage) => total + count(read(usage)), 0);
  return {
    tokens: sum((usage) => usage.total_tokens),
    usage: {
      input_tokens: sum((usage) => usage.input_tokens),
      output_tokens: sum((usage) => usage.output_tokens),
      cached_input_tokens: sum((usage) => members(usage.input_token_details).cache_read),
      cache_write_tokens: sum((usage) => members(usage.input_token_details).cache_creation),
      reasoning_tokens: sum((usage) => members(usage.output_token_details).reasoning),
    },
  };
}

/** Returns the model name of an answer. */
export function modelOf(response: unknown): string | undefined {
  const names = replies(response).map(
    ({ response_metadata: metadata }) => textOf(members(metadata).model_name) || textOf(members(metadata).model),
  );
  return names.find(Boolean);
}

/** Returns the model name of a request. */
export function requestedModel(extra: unknown, metadata: Fields): string | undefined {
  const params = members(members(extra).invocation_params);
  return textOf(params.model) || textOf(params.model_name) || textOf(metadata.ls_model_name) || undefined;
}

/** Reports whether LangGraph uses the error to jump to another node or to wait for a person. It is not a failure. */
export function isControlFlow(error: unknown): boolean {
  return members(error).is_bubble_up === true;
}
