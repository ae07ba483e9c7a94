// Language-model middleware for the AI SDK: it records the calls of a model, passes the guard's nudges to it, and answers in its place
// when the run has been halted. It reads the results of versions 5 to 7 of the SDK, which differ in usage and finish reason.

import { type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import { count, haltAnswer, type Session } from "./adapter.js";
import { LoopError } from "./guard/decision.js";
import type { Usage } from "./run.js";
import { randomHex } from "./runtime.js";
import { isPlain } from "./serialize.js";

export type AIModel = Parameters<typeof wrapLanguageModel>[0]["model"];

interface Part {
  type: string;
  text?: string;
  delta?: string;
  usage?: unknown;
  error?: unknown;
  [member: string]: unknown;
}

interface Message {
  role: string;
  content: unknown;
}

/** Returns model with middleware for a session. */
export function guardModel(model: AIModel, session: Session, agent: string, onHalt: "end" | "raise"): AIModel {
  const calls = new Calls(model, session, agent, onHalt);
  const middleware = {
    specificationVersion: "v3",
    transformParams: ({ params }: { params: { prompt: Message[] } }) => calls.transform(params),
    wrapGenerate: ({ doGenerate }: { doGenerate: () => PromiseLike<{ content: Part[]; usage: unknown }> }) =>
      calls.generate(doGenerate),
    wrapStream: ({ doStream }: { doStream: () => PromiseLike<{ stream: ReadableStream<Part> }> }) => calls.stream(doStream),
  };
  return wrapLanguageModel({ model, middleware: middleware as unknown as LanguageModelMiddleware });
}

class Calls {
  private turn = false; // the user's message of this call was reported
  private lastText = "";

  constructor(
    private readonly model: AIModel,
    private readonly session: Session,
    private readonly agent: string,
    private readonly onHalt: "end" | "raise",
  ) {}

  /** Reports the user's message of the first request, and appends nudges about the model's text. */
  async transform<Params extends { prompt: Message[] }>(params: Params): Promise<Params> {
    const last = params.prompt.at(-1);
    if (!this.turn && last?.role === "user") await this.session.user(textOf(last.content));
    this.turn = true;
    const nudges = this.session.takeNudges().map((text) => ({ role: "user", content: [{ type: "text", text }] }));
    return nudges.length > 0 ? { ...params, prompt: [...params.prompt, ...nudges] } : params;
  }

  async generate<Result extends { content: Part[]; usage: unknown }>(doGenerate: () => PromiseLike<Result>): Promise<Result> {
    if (this.session.halted) return this.answer() as unknown as Result;
    const call = this.start();
    let result: Result;
    try {
      result = await doGenerate();
    } catch (error) {
      call.failed(error);
      throw error;
    }
    await call.completed(textOf(result.content), hasCalls(result.content), result.usage);
    return result;
  }

  async stream<Result extends { stream: ReadableStream<Part> }>(doStream: () => PromiseLike<Result>): Promise<Result> {
    if (this.session.halted) return { stream: streamOf(this.answer()) } as unknown as Result;
    const call = this.start();
    let result: Result;
    try {
      result = await doStream();
    } catch (error) {
      call.failed(error);
      throw error;
    }
    let text = "";
    let calls = false;
    const watch = new TransformStream<Part, Part>({
      async transform(part, controller) {
        // The call is reported before the SDK sees its end, so that a nudge arrives before the next request.
        if (part.type === "text-delta") text += part.delta ?? "";
        else if (part.type === "tool-call") calls = true;
        else if (part.type === "error") call.failed(part.error);
        else if (part.type === "finish") await call.completed(text, calls, part.usage);
        controller.enqueue(part);
      },
    });
    return { ...result, stream: result.stream.pipeThrough(watch) };
  }

  private start(): { completed(text: string, calls: boolean, usage: unknown): Promise<void>; failed(error: unknown): void } {
    const { session, agent } = this;
    const of = { agent, model: this.model.modelId };
    const parent_event_id = session.run?.event("llm_call_started", of);
    const started = performance.now();
    const end = (how: string, outcome: object): void => {
      session.run?.event(`llm_call_${how}`, { ...of, ...outcome, latency_ms: performance.now() - started, parent_event_id });
    };
    return {
      failed: (error) => end("failed", { error: error ?? "undefined" }),
      completed: async (text, calls, given) => {
        const usage = usageOf(given);
        const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
        end("completed", { usage, ...(tokens > 0 && { tokens }) });
        if (!text) return;
        this.lastText = text;
        session.run?.event("message", { role: "assistant", agent, text });
        if (calls) await session.text(text, agent); // a text without calls is the final answer
      },
    };
  }

  /** Returns the answer that ends the run in place of the model's. Throws LoopError if a halt throws. */
  private answer(): { content: Part[]; finishReason: unknown; usage: unknown; warnings: [] } {
    const { halted } = this.session;
    if (!halted) throw new TypeError("the run is not halted");
    if (this.onHalt === "raise") throw new LoopError(halted);
    const nested = (this.model.specificationVersion as string) !== "v2";
    return {
      content: [{ type: "text", text: haltAnswer(halted, this.lastText) }],
      finishReason: nested ? { unified: "stop", raw: undefined } : "stop",
      usage: nested
        ? { inputTokens: { total: 0 }, outputTokens: { total: 0 } }
        : { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      warnings: [],
    };
  }
}

function streamOf(answer: { content: Part[]; finishReason: unknown; usage: unknown }): ReadableStream<Part> {
  const id = randomHex(8);
  const { finishReason, usage } = answer;
  const parts: Part[] = [
    { type: "stream-start", warnings: [] },
    { type: "text-start", id },
    { type: "text-delta", id, delta: textOf(answer.content) },
    { type: "text-end", id },
    { type: "finish", finishReason, usage },
  ];
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}

/** Returns the text of a message's content. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as Part[]) : [];
  return parts.map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : "")).join("");
}

function hasCalls(content: Part[]): boolean {
  return content.some((part) => part.type === "tool-call");
}

/** Returns the usage of a model call. Version 5 has plain counts, later ones a count for each kind of token. */
function usageOf(given: unknown): Usage {
  if (!isPlain(given)) return {};
  const side = (value: unknown): Record<string, unknown> => (isPlain(value) ? value : { total: value });
  const input = side(given.inputTokens);
  const output = side(given.outputTokens);
  return {
    input_tokens: count(input.total),
    output_tokens: count(output.total),
    cached_input_tokens: count(input.cacheRead ?? given.cachedInputTokens),
    cache_write_tokens: count(input.cacheWrite),
    reasoning_tokens: count(output.reasoning ?? given.reasoningTokens),
  };
}
