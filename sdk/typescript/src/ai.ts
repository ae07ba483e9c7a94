/**
 * unloop for the Vercel AI SDK. withUnloop(ai) returns generateText and streamText that record each call on the server and guard its
 * tools. AgentRun does the same for a ToolLoopAgent.
 *
 * @packageDocumentation
 */

import * as ai from "ai";
import { type AdapterOptions, orRefusal, type Session, Sessions, type ToolOutcome } from "./adapter.js";
import { type AIModel, guardModel } from "./ai-model.js";

export interface AIOptions extends AdapterOptions {
  /** The name of the run and of its agent. The default is "agent". */
  name?: string;
  /** The id of the run, such as that of a conversation. The default is that of the current trace(), else a random id. */
  id?: string;
  /** What a halt does: "end" ends with an answer that contains the reason, "raise" throws LoopError. The default is "end". */
  onHalt?: "end" | "raise";
}

interface CallArguments {
  model: unknown;
  tools?: unknown;
}

type Execute = NonNullable<ai.Tool["execute"]>;
type Callback = ((event: never) => unknown) | undefined;

/** Returns ai with other functions generateText and streamText. Each call of them is a run, unless it is within trace(). */
export function withUnloop<AI extends Pick<typeof ai, "generateText" | "streamText">>(sdk: AI, options: AIOptions = {}): AI {
  const sessions = new Sessions(options);
  const generateText = async (args: CallArguments): Promise<unknown> => {
    const run = new AgentRun(options, sessions);
    try {
      const result = await run.activate(() => sdk.generateText(run.call(args) as never));
      run.end();
      return result;
    } catch (error) {
      run.end(error);
      throw error;
    }
  };
  const streamText = (args: CallArguments & Record<"onFinish" | "onError" | "onAbort", Callback>): unknown => {
    const run = new AgentRun(options, sessions);
    const ending = (callback: Callback, end: (event: { error?: unknown }) => void) => (event: never) => {
      end(event);
      return callback?.(event);
    };
    const callbacks = {
      onFinish: ending(args.onFinish, () => run.end()),
      onAbort: ending(args.onAbort, () => run.end("the stream was aborted")),
      // Without a callback, the SDK logs errors.
      onError: ending(args.onError ?? ((event: { error: unknown }) => console.error(event.error)), ({ error }) => run.end(error)),
    };
    return run.activate(() => sdk.streamText({ ...run.call(args), ...callbacks } as never));
  };
  return { ...sdk, generateText, streamText };
}

/** One run of an agent. Within trace(), its events belong to that run. */
export class AgentRun {
  private readonly session: Session;
  private readonly name: string;
  private readonly onHalt: "end" | "raise";

  constructor({ name = "agent", id, onHalt = "end", ...options }: AIOptions = {}, sessions: Sessions = new Sessions(options)) {
    if (!["end", "raise"].includes(onHalt)) throw new TypeError(`invalid onHalt "${onHalt}": want "end" or "raise"`);
    this.name = name;
    this.onHalt = onHalt;
    this.session = sessions.begin(name, id);
  }

  /** Returns the arguments of generateText or streamText, or those of prepareCall, with the model and the tools guarded. */
  call<Arguments extends CallArguments>(args: Arguments): Arguments {
    const tools = args.tools ? { tools: this.tools(args.tools as ai.ToolSet) } : {};
    return { ...args, model: this.model(args.model as ai.LanguageModel), ...tools };
  }

  /** Returns the model with middleware that records its calls, passes warnings to it, and ends the run on a halt. */
  model(model: ai.LanguageModel): ai.LanguageModel {
    return guardModel(resolve(model), this.session, this.name, this.onHalt);
  }

  /** Returns the tools with the guard around their execute functions. Tools without one run elsewhere, and stay as they are. */
  tools<Tools extends ai.ToolSet>(tools: Tools): Tools {
    const guarded = Object.entries(tools).map(([name, tool]) => {
      if (!tool.execute) return [name, tool];
      const { toModelOutput } = tool;
      const execute = this.execute(name, tool.execute.bind(tool), toModelOutput !== undefined);
      return [name, { ...tool, execute, ...(toModelOutput && { toModelOutput: orRefusal(toModelOutput.bind(tool)) }) }];
    });
    return Object.fromEntries(guarded);
  }

  private execute(tool: string, execute: Execute, converts: boolean): Execute {
    const { session, name } = this;
    const given = (outcome: ToolOutcome, own: unknown): unknown => (converts ? session.ownResult(outcome, own) : outcome.result);
    if (Object.prototype.toString.call(execute) !== "[object AsyncGeneratorFunction]") {
      return async (args, options) => {
        let own: unknown;
        const outcome = await session.tool({ tool, args, agent: name }, async () => {
          own = await lastOf(execute(args, options));
          return own;
        });
        return given(outcome, own);
      };
    }
    return async function* (args, options) {
      const open = await session.begin({ tool, args, agent: name });
      if (open.refused) {
        yield open.refused.result;
        return;
      }
      let last: unknown; // the result; the values before it are previews
      try {
        for await (const value of execute(args, options) as AsyncIterable<unknown>) {
          last = value;
          yield value;
        }
      } catch (error) {
        await open.failed(error);
        throw error;
      }
      const result = given(await open.completed(last), last);
      if (result !== last) yield result;
    };
  }

  /** Calls fn with this run as the current one. */
  activate<R>(fn: () => R): R {
    return this.session.run ? this.session.run.activate(fn) : fn();
  }

  /** Ends the run, unless it belongs to a trace(). */
  end(error?: unknown): void {
    this.session.end(error);
  }
}

async function lastOf(value: unknown): Promise<unknown> {
  if (typeof value !== "object" || value === null || !(Symbol.asyncIterator in value)) return await value;
  let last: unknown;
  for await (const item of value as AsyncIterable<unknown>) last = item;
  return last;
}

/** Returns the model of an id, as the SDK does. */
function resolve(model: ai.LanguageModel): AIModel {
  if (typeof model !== "string") return model as AIModel;
  const { AI_SDK_DEFAULT_PROVIDER: provider } = globalThis as {
    AI_SDK_DEFAULT_PROVIDER?: Pick<typeof ai.gateway, "languageModel">;
  };
  return (provider ?? ai.gateway).languageModel(model) as AIModel;
}
