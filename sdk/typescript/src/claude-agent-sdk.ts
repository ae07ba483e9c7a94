/**
 * unloop for the Claude Agent SDK. withUnloop(sdk) returns a query() that records each query on the server and guards its tool calls by
 * hooks, which run in this process.
 *
 * @packageDocumentation
 */

import type {
  HookCallback,
  HookCallbackMatcher,
  HookEvent,
  HookInput,
  HookJSONOutput,
  Query,
  query,
  SDKMessage,
} from "@anthropic-ai/claude-agent-sdk";
import { type AdapterOptions, haltAnswer, type OpenCall, type Session, Sessions } from "./adapter.js";
import { ModelCalls } from "./claude-model.js";
import { type Decision, GuardUnavailable, LoopError } from "./guard/decision.js";
import { warnOnce } from "./log.js";
import { members, textOf } from "./read.js";
import { isPlain } from "./serialize.js";

export interface ClaudeOptions extends AdapterOptions {
  /** The name of the run and of its agent. The default is "claude". */
  name?: string;
  /** The id of the run, such as that of a conversation. The default is that of the current trace(), else a random id. */
  id?: string;
  /** What a halt does: "end" ends the turn with a result that contains the reason, "raise" throws LoopError. The default is "end". */
  onHalt?: "end" | "raise";
}

type Hooks = Partial<Record<HookEvent, HookCallbackMatcher[]>>;
type Answer = HookJSONOutput & { continue?: boolean };

/** Returns the SDK with another query(), which has the same arguments and results. Each query is a run, unless it is within trace(). */
export function withUnloop<SDK extends { query: typeof query }>(sdk: SDK, options: ClaudeOptions = {}): SDK {
  const { onHalt = "end", ...rest } = options;
  if (!["end", "raise"].includes(onHalt)) throw new TypeError(`invalid onHalt "${onHalt}": want "end" or "raise"`);
  const sessions = new Sessions(rest);
  const guarded = (params: Parameters<typeof query>[0]): Query => {
    const { name = "claude", id } = rest;
    const session = sessions.begin(name, id);
    const run = new GuardedQuery(session, name, onHalt);
    const hooks = run.hooks(params.options?.hooks ?? {});
    const start = () => sdk.query({ ...params, options: { ...params.options, hooks } });
    return run.watch(session.run ? session.run.activate(start) : start());
  };
  return { ...sdk, query: guarded };
}

/** One query: its hooks, and its messages. */
class GuardedQuery {
  private readonly calls = new Map<string, OpenCall>();
  private readonly models: ModelCalls;

  constructor(
    private readonly session: Session,
    private readonly name: string,
    private readonly onHalt: "end" | "raise",
  ) {
    this.models = new ModelCalls(session, name);
  }

  /** Returns the caller's hooks with those of the guard. */
  hooks(own: Hooks): Hooks {
    const acting: Partial<Record<HookEvent, (input: never) => Promise<Answer>>> = {
      UserPromptSubmit: ({ prompt }: Input<"UserPromptSubmit">) => this.user(prompt),
      PreToolUse: (input: Input<"PreToolUse">) => this.before(input),
      PostToolUse: (input: Input<"PostToolUse">) => this.after(input, (call) => ended(call, resultOf(input.tool_response))),
      PostToolUseFailure: (input: Input<"PostToolUseFailure">) => this.after(input, (call) => call.failed(input.error)),
      PostToolBatch: (input: Input<"PostToolBatch">) => this.batch(input),
    };
    const hooks: Hooks = { ...own };
    for (const [event, act] of Object.entries(acting) as [HookEvent, (input: HookInput) => Promise<Answer>][]) {
      const hook: HookCallback = (input) => act(input).catch((error: unknown) => unguarded(event, error));
      hooks[event] = [...(own[event] ?? []), { hooks: [hook] }];
    }
    return hooks;
  }

  private async user(prompt: string): Promise<Answer> {
    this.session.halted = undefined; // a person who writes lets the agent continue
    await this.session.user(prompt);
    return {};
  }

  private async before({ tool_name: tool, tool_input: args, tool_use_id, agent_type }: Input<"PreToolUse">): Promise<Answer> {
    await this.models.report();
    const subagent = textOf(members(args).subagent_type);
    if (subagent) this.models.agents.set(tool_use_id, subagent);
    const open = await this.session.begin({ tool, args, agent: agent_type ?? this.name });
    if (!open.refused) {
      this.calls.set(tool_use_id, open);
      return {};
    }
    return deny(`[loop-guard] ${open.refused.decision?.message}`);
  }

  /** Ends a call. A nudge goes to the model beside the result. */
  private async after(
    { hook_event_name, tool_use_id }: Input<"PostToolUse"> | Input<"PostToolUseFailure">,
    end: (call: OpenCall) => Promise<Decision | undefined>,
  ): Promise<Answer> {
    const call = this.calls.get(tool_use_id);
    this.calls.delete(tool_use_id);
    const decision = call && (await end(call));
    const nudges = this.session.takeNudges();
    if (decision && decision.result !== undefined) nudges.push(`[loop-guard] ${decision.message}`);
    if (nudges.length === 0) return {};
    return { hookSpecificOutput: { hookEventName: hook_event_name, additionalContext: nudges.join("\n") } };
  }

  /** Ends calls that no other hook has ended, such as those without a permission, and ends the turn after a halt. */
  private async batch({ tool_calls }: Input<"PostToolBatch">): Promise<Answer> {
    for (const { tool_use_id, tool_response } of tool_calls) {
      const call = this.calls.get(tool_use_id);
      this.calls.delete(tool_use_id);
      await call?.failed(resultOf(tool_response) ?? "the call did not run");
    }
    const { halted } = this.session;
    return halted ? { continue: false, stopReason: `[loop-guard] ${halted.message}` } : {};
  }

  /** Returns the query with its messages observed. */
  watch(inner: Query): Query {
    const messages = this.messages(inner);
    const own: Record<PropertyKey, unknown> = {
      next: () => messages.next(),
      return: async (value: undefined) => {
        await inner.return(value); // the generator below has no open query before its first message
        return await messages.return(value);
      },
      throw: (error: unknown) => messages.throw(error),
      [Symbol.asyncIterator]: () => messages,
    };
    return new Proxy(inner, {
      get: (target, property) => {
        if (property in own) return own[property];
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  private async *messages(inner: Query): AsyncGenerator<SDKMessage, void> {
    let failure: unknown;
    try {
      await this.session.guard?.ready();
      for await (const message of inner) {
        const read = await this.models.read(message);
        if (read.type === "result") failure = read.is_error ? read.subtype : undefined;
        yield read.type === "result" ? this.result(read) : read;
      }
    } catch (error) {
      failure = error;
      throw error;
    } finally {
      await inner.return(undefined).catch(() => {});
      this.models.endTurn();
      this.session.end(failure);
    }
  }

  /** Returns the result with the reason of a halt. Without it the SDK's result is empty. */
  private result(message: Extract<SDKMessage, { type: "result" }>): SDKMessage {
    const { halted } = this.session;
    if (!halted || message.subtype !== "success") return message;
    if (this.onHalt === "raise") throw new LoopError(halted);
    return { ...message, result: haltAnswer(halted, this.models.lastText) };
  }
}

type Input<Event extends HookEvent> = Extract<HookInput, { hook_event_name: Event }>;

/** A hook that throws lets the call run. Without a guard the query itself fails, and its calls must not run. */
function unguarded(event: HookEvent, error: unknown): Answer {
  if (error instanceof GuardUnavailable && event === "PreToolUse") return deny(error.message);
  warnOnce("claude", `the hook ${event} failed (${error instanceof Error ? error.name : "error"})`);
  return {};
}

function deny(permissionDecisionReason: string): Answer {
  return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason } };
}

async function ended(call: OpenCall, result: unknown): Promise<Decision | undefined> {
  return (await call.completed(result)).decision;
}

/** Returns a tool's result. The output of a command, and blocks of text, are one text, as the model reads them. */
function resultOf(response: unknown): unknown {
  const { stdout, stderr } = members(response);
  if (typeof stdout === "string") return [stdout, textOf(stderr)].filter(Boolean).join("\n");
  const blocks = isPlain(response) && Object.keys(response).length === 1 ? response.content : response;
  if (!Array.isArray(blocks) || blocks.length === 0) return response;
  const texts = blocks.map((block) => members(block).text);
  return texts.every((text) => typeof text === "string") ? texts.map(textOf).join("\n") : response;
}
