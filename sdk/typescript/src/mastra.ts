/**
 * unloop for Mastra. withUnloop(agent) returns the agent with a generate() and a stream() that record each call on the server and guard the
 * agent's tools, by a processor.
 *
 * @packageDocumentation
 */

import type { Agent } from "@mastra/core/agent";
import type {
  CachedLLMStepChunk,
  ProcessInputStepArgs,
  ProcessInputStepResult,
  ProcessLLMRequestArgs,
  ProcessLLMRequestResult,
  ProcessLLMResponseArgs,
  Processor,
} from "@mastra/core/processors";
import { type AdapterOptions, count, haltAnswer, orRefusal, type Session, Sessions } from "./adapter.js";
import { LoopError } from "./guard/decision.js";
import { type Fields, members, textOf } from "./read.js";
import type { EventFields } from "./run.js";
import { randomHex } from "./runtime.js";

export interface MastraOptions extends AdapterOptions {
  /** The name of the run and of its agent. The default is the agent's name. */
  name?: string;
  /** The id of the run. The default is that of the current trace(), else the thread of the call's memory, else a random id. */
  id?: string;
  /** What a halt does: "end" ends with an answer that contains the reason, as streams always do; "raise" lets generate() throw LoopError. */
  onHalt?: "end" | "raise";
}

type Callback = ((event: never) => unknown) | undefined;
type Call = (messages: unknown, options: Fields) => Promise<unknown>;

/** Returns the agent with another generate() and stream(). Each call of them is a run, unless it is within trace(). */
export function withUnloop<A extends Pick<Agent, "generate" | "stream" | "listConfiguredInputProcessors" | "name">>(
  agent: A,
  options: MastraOptions = {},
): A {
  const { onHalt = "end", name = agent.name, id, ...rest } = options;
  if (!["end", "raise"].includes(onHalt)) throw new TypeError(`invalid onHalt "${onHalt}": want "end" or "raise"`);
  const sessions = new Sessions(rest);
  const call = async (method: "generate" | "stream", messages: unknown, given: Fields = {}): Promise<unknown> => {
    const session = sessions.begin(name, id ?? threadOf(given));
    const processor = new GuardProcessor(session, name);
    const run = () => (agent[method] as Call).call(agent, messages, { ...given, ...more });
    const more: Fields = { inputProcessors: [] };
    try {
      const own = given.inputProcessors ?? (await agent.listConfiguredInputProcessors(given.requestContext as never));
      more.inputProcessors = [...(own as Processor[]), processor];
      if (method === "stream")
        Object.assign(
          more,
          endings(given, (error) => processor.end(error)),
        );
      await session.user(lastText(messages));
      const result = await (session.run ? session.run.activate(run) : run());
      if (method === "generate" && session.halted && onHalt === "raise") throw new LoopError(session.halted);
      if (method === "generate") processor.end(members(result).error);
      return result;
    } catch (error) {
      processor.end(error);
      throw error;
    }
  };
  const own: Fields = {
    generate: (messages: unknown, given?: Fields) => call("generate", messages, given),
    stream: (messages: unknown, given?: Fields) => call("stream", messages, given),
  };
  return new Proxy(agent, {
    get: (target, property) => {
      if (typeof property === "string" && property in own) return own[property];
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value; // methods with private members need the agent itself
    },
  });
}

/** Guards the tools of one call, records its model calls, and answers in the model's place after a halt. */
class GuardProcessor implements Processor<"unloop"> {
  readonly id = "unloop";
  private lastText = "";
  private open: { of: EventFields; started: number } | undefined;

  constructor(
    private readonly session: Session,
    private readonly agent: string,
  ) {}

  processInputStep({ tools }: ProcessInputStepArgs): ProcessInputStepResult {
    const guarded = Object.entries(tools ?? {}).map(([name, tool]) => [name, this.guard(name, members(tool))]);
    return { tools: Object.fromEntries(guarded) };
  }

  private guard(tool: string, given: Fields): unknown {
    const { execute, toModelOutput } = given;
    if (typeof execute !== "function") return given; // it runs elsewhere
    const { session, agent } = this;
    const converts = typeof toModelOutput === "function";
    const guarded = async (args: unknown, ...more: unknown[]): Promise<unknown> => {
      let own: unknown;
      const outcome = await session.tool({ tool, args, agent }, async () => {
        own = await execute.call(given, args, ...more);
        return own;
      });
      return converts ? session.ownResult(outcome, own) : outcome.result;
    };
    return { ...given, execute: guarded, ...(converts && { toModelOutput: orRefusal(toModelOutput.bind(given)) }) };
  }

  processLLMRequest({ prompt, model }: ProcessLLMRequestArgs): ProcessLLMRequestResult {
    const { session, agent } = this;
    if (session.halted) return { response: { chunks: answer(haltAnswer(session.halted, this.lastText)) } };
    const of = { agent, model: model.modelId };
    this.open = { of: { ...of, parent_event_id: session.run?.event("llm_call_started", of) }, started: performance.now() };
    const nudges = session.takeNudges().map((text) => ({ role: "user" as const, content: [{ type: "text" as const, text }] }));
    return nudges.length > 0 ? { prompt: [...prompt, ...nudges] } : undefined;
  }

  async processLLMResponse({ chunks }: ProcessLLMResponseArgs): Promise<void> {
    const { session, agent } = this;
    const payloads = chunks.map(({ type, payload }) => ({ type, payload: members(payload) }));
    const failed = payloads.find(({ type }) => type === "error");
    if (failed) return this.completed("failed", { error: failed.payload.error ?? "the model failed" });
    const finish = payloads.find(({ type }) => type === "finish" || type === "step-finish")?.payload;
    this.completed("completed", tokensOf(members(members(finish?.output).usage)));
    const text = payloads.map(({ type, payload }) => (type === "text-delta" ? textOf(payload.text) : "")).join("");
    if (!text) return;
    this.lastText = text;
    session.run?.event("message", { role: "assistant", agent, text });
    const calls = payloads.some(({ type }) => type === "tool-call");
    if (calls) await session.text(text, agent); // a text without calls is the final answer
  }

  private completed(how: "completed" | "failed", outcome: EventFields): void {
    if (!this.open) return;
    const { of, started } = this.open;
    this.open = undefined;
    this.session.run?.event(`llm_call_${how}`, { ...of, ...outcome, latency_ms: performance.now() - started });
  }

  /** Ends the run, and the model call that failed with the error. */
  end(error?: unknown): void {
    if (error !== undefined) this.completed("failed", { error });
    this.session.end(error);
  }
}

/** Returns the chunks of an answer of a model. */
function answer(text: string): CachedLLMStepChunk[] {
  const id = randomHex(8);
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const finish = { stepResult: { reason: "stop", isContinued: false, warnings: [] }, output: { usage }, metadata: {} };
  return [
    { type: "text-start", payload: { id } },
    { type: "text-delta", payload: { id, text } },
    { type: "text-end", payload: { id } },
    { type: "finish", payload: { ...finish, messages: { all: [], user: [], nonUser: [] } } },
  ];
}

/** Returns the callbacks of a stream, of which each ends the run. */
function endings(given: Fields, end: (error?: unknown) => void): Fields {
  const ending = (name: string, error: (event: Fields) => unknown) => (event: never) => {
    end(error(members(event)));
    return (given[name] as Callback)?.(event);
  };
  return {
    onFinish: ending("onFinish", (event) => event.error),
    onError: ending("onError", (event) => event.error ?? "the stream failed"),
    onAbort: ending("onAbort", () => "the stream was aborted"),
  };
}

function threadOf({ memory }: Fields): string | undefined {
  const { thread } = members(memory);
  return textOf(thread) || textOf(members(thread).id) || undefined;
}

/** Returns the text of the last message. */
function lastText(messages: unknown): string {
  const last = Array.isArray(messages) ? messages.at(-1) : messages;
  const content = typeof last === "string" ? last : members(last).content;
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => textOf(members(part).text)).join("");
}

function tokensOf(given: Fields): EventFields {
  const usage = {
    input_tokens: count(given.inputTokens),
    output_tokens: count(given.outputTokens),
    cached_input_tokens: count(given.cachedInputTokens),
    cache_write_tokens: count(given.cacheCreationInputTokens),
    reasoning_tokens: count(given.reasoningTokens),
  };
  const tokens = usage.input_tokens + usage.output_tokens;
  return tokens > 0 ? { tokens, usage } : {};
}
