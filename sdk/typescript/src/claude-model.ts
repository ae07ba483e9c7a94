// The model calls of a query to the Claude Agent SDK, by its messages. One answer of the model comes as several messages with one id,
// one block each. Their usage is repeated and may lack the output: the result of the turn has the sums.

import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import { count, type Session } from "./adapter.js";
import { type Fields, members, textOf } from "./read.js";
import type { Usage } from "./run.js";

interface ModelCall {
  id: string;
  agent: string;
  model: string;
  text: string;
  reported: boolean; // the guard has the text
  usage: Usage;
  started: string | undefined; // the id of the event
}

/** Records the model calls of a session, and keeps the text beside calls for the guard. */
export class ModelCalls {
  /** The last text of the model. */
  lastText = "";
  /** The names of sub-agents, by the calls that started them. */
  readonly agents = new Map<string, string>();
  private readonly open = new Map<string, ModelCall>(); // by the call that started their agent; "" is the main agent
  private recorded: Usage = {}; // of the calls of this turn that have ended

  constructor(
    private readonly session: Session,
    private readonly name: string,
  ) {}

  /** Reads a message, and returns it. */
  async read(message: SDKMessage): Promise<SDKMessage> {
    if (message.type === "assistant") this.add(message.parent_tool_use_id ?? "", members(message.message));
    else if (message.type === "result") this.endTurn(usageOf(members(message.usage)));
    return message;
  }

  /** Ends the calls of a turn. The last one gets the tokens that the messages lacked. */
  endTurn(total: Usage = {}): void {
    const last = this.open.get("");
    for (const parent of this.open.keys()) if (parent) this.end(parent);
    if (last) {
      const known = each(this.recorded, last.usage, (one, other) => one + other);
      const missing = each(total, known, (all, some) => Math.max(0, all - some));
      last.usage = each(last.usage, missing, (one, other) => one + other);
      this.end("");
    }
    this.recorded = {};
  }

  /** Reports the text of the model beside its calls to the guard. */
  async report(): Promise<void> {
    for (const call of this.open.values()) {
      if (!call.text || call.reported) continue;
      call.reported = true;
      await this.session.text(call.text, call.agent);
    }
  }

  private add(parent: string, { id, model, content, usage }: Fields): void {
    if (this.open.get(parent)?.id !== textOf(id)) this.end(parent);
    const call = this.open.get(parent) ?? this.start(parent, textOf(id), textOf(model));
    for (const block of Array.isArray(content) ? content : []) call.text += textOf(members(block).text);
    call.usage = each(call.usage, usageOf(members(usage)), Math.max);
  }

  private start(parent: string, id: string, model: string): ModelCall {
    const agent = this.agents.get(parent) ?? this.name;
    const started = this.session.run?.event("llm_call_started", { agent, model });
    const call: ModelCall = { id, agent, model, text: "", reported: false, usage: {}, started };
    this.open.set(parent, call);
    return call;
  }

  private end(parent: string): void {
    const call = this.open.get(parent);
    if (!call) return;
    this.open.delete(parent);
    const { agent, model, usage, text, started: parent_event_id } = call;
    const { run } = this.session;
    this.recorded = each(this.recorded, usage, (one, other) => one + other);
    const tokens = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
    run?.event("llm_call_completed", { agent, model, usage, ...(tokens > 0 && { tokens }), parent_event_id });
    if (!text) return;
    run?.event("message", { role: "assistant", agent, text });
    if (!parent) this.lastText = text;
  }
}

/** Returns the usage of a message. Its input excludes cached tokens. */
function usageOf(given: Fields): Usage {
  const [read, written] = [count(given.cache_read_input_tokens), count(given.cache_creation_input_tokens)];
  return {
    input_tokens: count(given.input_tokens) + read + written,
    output_tokens: count(given.output_tokens),
    cached_input_tokens: read,
    cache_write_tokens: written,
  };
}

/** Returns the usage whose counts are those that combine returns. */
function each(one: Usage, other: Usage, combine: (one: number, other: number) => number): Usage {
  const kinds = Object.keys({ ...one, ...other }) as (keyof Usage)[];
  return Object.fromEntries(kinds.map((kind) => [kind, combine(one[kind] ?? 0, other[kind] ?? 0)]));
}
