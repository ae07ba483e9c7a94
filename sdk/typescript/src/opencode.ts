/**
 * unloop for opencode. The plugin records each session on the server and guards its tool calls: "plugin": ["@unloop-ai/unloop"] in
 * opencode.json.
 *
 * @packageDocumentation
 */

import type { Hooks, Plugin, PluginInput, PluginModule } from "@opencode-ai/plugin";
import { type AdapterOptions, BoundedMap, count, type OpenCall, type Session, Sessions } from "./adapter.js";
import { flush } from "./core.js";
import type { Decision } from "./guard/decision.js";
import { log, setLog } from "./log.js";
import { type Fields, members, textOf } from "./read.js";
import type { EventFields } from "./run.js";

export interface OpenCodeOptions extends AdapterOptions {
  /** The name of the runs. The default is "opencode". */
  name?: string;
}

// The plugin that "unloop hook install" writes does nothing in a process that has this one, so that a call is judged once.
const LOADED = Symbol.for("unloop.opencode");

/** Returns the plugin, for a file in a folder of plugins. */
export function unloopPlugin(options: OpenCodeOptions = {}): Plugin {
  return async ({ client }) => {
    Object.assign(globalThis, { [LOADED]: true });
    setLog((message) => void client.app.log({ body: { service: "unloop", level: "warn", message } }).catch(() => {}));
    return new Guarded(options, client).hooks();
  };
}

const plugin: PluginModule = { id: "unloop", server: (input, options) => unloopPlugin(options)(input) };
export default plugin;

/** A turn of a session, from the user's message until the session is idle. */
interface Turn {
  session: Session;
  agent: string | undefined;
  text: string; // what the model said since its last call
  calls: Map<string, OpenCall>;
}

class Guarded {
  private readonly sessions: Sessions;
  private readonly name: string;
  private readonly turns = new BoundedMap<Turn>();
  private readonly messages = new BoundedMap<EventFields>(); // agent and model of the assistant's messages
  private readonly steps = new BoundedMap<true>(); // the ids of parts that start or end a model call
  private readonly running = new BoundedMap<string>(); // the event of a model call that has not ended, by the id of its message

  constructor(
    { name = "opencode", ...options }: OpenCodeOptions,
    private readonly client: PluginInput["client"],
  ) {
    this.name = name;
    this.sessions = new Sessions(options);
  }

  hooks(): Hooks {
    return {
      "chat.message": async ({ sessionID }, { message, parts }) => {
        const texts = parts.map((part) => (part.type === "text" && !part.synthetic ? part.text : ""));
        const turn = this.turn(sessionID);
        turn.agent = message.agent ?? turn.agent;
        turn.session.halted = undefined; // a person who writes lets the agent continue
        await turn.session.user(texts.filter(Boolean).join("\n")).catch((error: Error) => log(error.message));
      },
      "experimental.text.complete": async ({ sessionID, messageID }, { text }) => {
        const turn = this.turns.get(sessionID);
        if (!turn || !text) return;
        turn.text = text;
        turn.session.run?.event("message", { ...this.messages.get(messageID), role: "assistant", text });
      },
      "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
        const turn = this.turn(sessionID);
        const { session, agent, text } = turn;
        turn.text = "";
        if (text) await session.text(text, agent);
        const open = await session.begin({ tool, args, agent });
        if (open.refused) throw new Error(this.refuse(sessionID, open.refused.decision));
        turn.calls.set(callID, open);
      },
      "tool.execute.after": async ({ sessionID, callID }, output) => {
        const turn = this.turns.get(sessionID);
        const open = turn?.calls.get(callID);
        if (!turn || !open) return;
        turn.calls.delete(callID);
        const text = textOfOutput(output);
        const decision = failed(output.metadata) ? await open.failed(text) : (await open.completed(text)).decision;
        if (decision?.halted) this.abort(sessionID);
        append(output, [...turn.session.takeNudges(), ...nudgeOf(decision)]);
      },
      dispose: async () => void (await flush()),
      event: async ({ event }) => {
        const { type, properties } = event as { type: string; properties: Fields };
        if (type === "message.updated") this.message(members(properties.info));
        else if (type === "message.part.updated") await this.part(members(properties.part));
        else if (type === "session.idle") this.end(textOf(properties.sessionID));
        else if (type === "session.error") this.end(textOf(properties.sessionID), errorOf(members(properties.error)));
      },
    };
  }

  /** Returns the open turn of a session. A session that continues without a message of the user gets a new one. */
  private turn(sessionID: string): Turn {
    const known = this.turns.get(sessionID);
    if (known) return known;
    const session = this.sessions.begin(this.name, sessionID);
    const turn: Turn = { session, agent: undefined, text: "", calls: new Map() };
    this.turns.set(sessionID, turn);
    return turn;
  }

  private message({ id, role, modelID, mode, agent }: Fields): void {
    if (role !== "assistant") return;
    this.messages.set(textOf(id), { model: textOf(modelID) || undefined, agent: textOf(agent) || textOf(mode) || undefined });
  }

  /** Reads a part of a message that was written or changed. */
  private async part(part: Fields): Promise<void> {
    const sessionID = textOf(part.sessionID);
    const turn = this.turns.get(sessionID);
    if (!turn) return;
    if (part.type === "step-start" || part.type === "step-finish") this.step(turn, part);
    if (part.type !== "tool" || members(part.state).status !== "error") return;
    // No other hook is called for a tool that throws.
    const callID = textOf(part.callID);
    const open = turn.calls.get(callID);
    turn.calls.delete(callID);
    const decision = await open?.failed(members(part.state).error);
    for (const nudge of nudgeOf(decision)) turn.session.nudgeLater(nudge);
    if (decision?.halted) this.abort(sessionID);
  }

  private step({ session: { run } }: Turn, { id, type, messageID, tokens, cost }: Fields): void {
    const of = this.messages.get(textOf(messageID));
    if (!of || this.steps.get(textOf(id)) !== undefined) return; // a part may come more than once
    const parent_event_id = this.running.take(textOf(messageID));
    if (type === "step-start") {
      const event = run?.event("llm_call_started", of) ?? "";
      this.running.set(textOf(messageID), event);
    } else {
      run?.event("llm_call_completed", { ...of, ...usageOf(members(tokens)), cost: count(cost), parent_event_id });
    }
    this.steps.set(textOf(id), true);
  }

  private refuse(sessionID: string, decision: Decision | undefined): string {
    if (decision?.halted) this.abort(sessionID);
    return `[loop-guard] ${decision?.message}`;
  }

  /** Ends the session's turn: opencode would else ask the model again. */
  private abort(sessionID: string): void {
    this.client.session.abort({ path: { id: sessionID } }).catch((error: unknown) => log(`the session was not ended: ${error}`));
  }

  private end(sessionID: string, error?: string): void {
    const session = this.turns.take(sessionID)?.session;
    session?.end(session.halted ? undefined : error); // the abort after a halt is no other failure
  }
}

function failed(metadata: unknown): boolean {
  const { exit } = members(metadata);
  return typeof exit === "number" && exit !== 0;
}

/** Returns the text for the model. The tools of MCP servers have blocks. */
function textOfOutput(output: object): string {
  const { output: text, content } = output as Fields;
  if (typeof text === "string" || !Array.isArray(content)) return textOf(text);
  return content.map((block) => textOf(members(block).text)).join("\n");
}

function append(output: { output: string }, nudges: string[]): void {
  if (nudges.length === 0) return;
  const text = nudges.join("\n");
  const { content } = output as Fields;
  if (typeof output.output === "string") output.output += `\n\n${text}`;
  else if (Array.isArray(content)) content.push({ type: "text", text });
}

function nudgeOf(decision: Decision | undefined): string[] {
  return decision?.result === undefined ? [] : [`[loop-guard] ${decision.message}`];
}

/** Returns the tokens of a step. The input excludes cached tokens. The output excludes reasoning if the total says so. */
function usageOf({ total, input, output, reasoning, cache }: Fields): EventFields {
  const { read, write } = members(cache);
  const sent = count(input) + count(read) + count(write);
  const usage = {
    input_tokens: sent,
    output_tokens: count(output) + (count(total) > sent + count(output) ? count(reasoning) : 0),
    cached_input_tokens: count(read),
    cache_write_tokens: count(write),
    reasoning_tokens: count(reasoning),
  };
  const tokens = usage.input_tokens + usage.output_tokens;
  return tokens > 0 ? { tokens, usage } : {};
}

function errorOf({ name, data }: Fields): string {
  const { message } = members(data);
  return [textOf(name), textOf(message)].filter(Boolean).join(": ") || "the session failed";
}
