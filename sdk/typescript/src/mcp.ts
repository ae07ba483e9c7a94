/**
 * unloop for the MCP TypeScript SDK. guardClient(client) returns a client whose callTool records each call on the server and guards it.
 *
 * @packageDocumentation
 */

import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { type AdapterOptions, type OpenCall, refusal, Sessions } from "./adapter.js";
import { type Decision, LoopError } from "./guard/decision.js";
import type { Annotations } from "./guard/guard.js";
import { type Fields, members, textOf } from "./read.js";

export interface MCPOptions extends AdapterOptions {
  /** The name of the run. The default is "mcp". */
  name?: string;
  /** The id of the run. The default is that of the current trace(), else a random id. */
  id?: string;
}

type CallTool = Client["callTool"];
type Result = Awaited<ReturnType<CallTool>>;

/** A client with the guard around its tool calls. end() ends the run, unless it belongs to a trace(). */
export type GuardedClient<C extends Pick<Client, "callTool">> = C & { end(error?: unknown): void };

/**
 * Returns client with another callTool. A warning is appended to the result as a text. A blocked call does not reach the MCP server: its
 * result is an error that gives the reason. When the run must end, the call rejects with LoopError. The annotations of tools that
 * listTools() has returned are hints for the guard.
 */
export function guardClient<C extends Pick<Client, "callTool" | "listTools">>(
  client: C,
  options: MCPOptions = {},
): GuardedClient<C> {
  const { name = "mcp", id, ...rest } = options;
  const session = new Sessions(rest).begin(name, id);
  const hints = new Map<string, Annotations>();

  const listTools: Client["listTools"] = async (...args) => {
    const result = await client.listTools(...args);
    for (const { name: tool, annotations } of result.tools) if (annotations) hints.set(tool, pick(annotations));
    return result;
  };
  const callTool: CallTool = async (params, ...more) => {
    const open = await session.begin({ tool: params.name, args: params.arguments ?? {}, annotations: hints.get(params.name) });
    if (open.refused) return refused(open.refused.decision, open.refused.result);
    let result: Result;
    try {
      result = await open.activate(() => client.callTool(params, ...more));
    } catch (error) {
      (await open.failed(error))?.check();
      throw error;
    }
    return nudged(result, await end(open, members(result)));
  };
  const own: Fields = { listTools, callTool, end: (error?: unknown) => session.end(error) };
  return new Proxy(client, {
    get: (target, property) => {
      if (typeof property === "string" && property in own) return own[property];
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value; // methods with private members need the client itself
    },
  }) as GuardedClient<C>;
}

function pick({ readOnlyHint, idempotentHint }: Annotations): Annotations {
  return { readOnlyHint, idempotentHint };
}

/** Reports how a call ended. A result with isError is a failure, with its text as the reason. */
async function end(open: OpenCall, result: Fields): Promise<Decision | undefined> {
  const content = Array.isArray(result.content) ? result.content : [];
  const texts = content.map((part) => textOf(members(part).text));
  const onlyText = content.length > 0 && texts.every(Boolean);
  if (result.isError === true) return await open.failed(texts.filter(Boolean).join("\n") || "the tool failed");
  return (await open.completed(result.structuredContent ?? (onlyText ? texts.join("\n") : (result.content ?? null)))).decision;
}

function refused(decision: Decision | undefined, result: unknown): Result {
  if (decision?.halted) throw new LoopError(decision);
  const text = typeof result === "string" ? result : JSON.stringify(result ?? (decision && refusal(decision)));
  return { content: [{ type: "text", text }], isError: true };
}

/** Returns the result with the warning as another text. */
function nudged(result: Result, decision: Decision | undefined): Result {
  decision?.check();
  if (!decision || decision.result === undefined) return result;
  const content = Array.isArray(result.content) ? result.content : [];
  return { ...result, content: [...content, { type: "text", text: `[loop-guard] ${decision.message}` }] } as Result;
}
