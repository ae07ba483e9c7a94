// Claude Code as the Claude Agent SDK sees it: a process that speaks the SDK's protocol, calls its hooks, and plays a script in place of
// a model. make agents runs the real program.

import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import type { SpawnedProcess } from "@anthropic-ai/claude-agent-sdk";
import { tools as archive, type Step, USAGE, type WantedCall } from "./works.js";

// biome-ignore lint/suspicious/noExplicitAny: the messages of the protocol
type Fields = Record<string, any>;

export class ScriptedClaude extends EventEmitter implements SpawnedProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  killed = false;
  exitCode: number | null = null;
  /** What the model gets after its calls: results, reasons of denials, and additional context. */
  readonly seen: string[] = [];
  private readonly waiting = new Map<string, (answer: Fields) => void>();
  private hooks: Record<string, { hookCallbackIds: string[] }[]> = {};
  private ids = 0;

  /** Plays the steps, of which the last repeats until a text or a hook ends the turn. */
  constructor(private readonly steps: Step[]) {
    super();
    let rest = "";
    this.stdin.on("data", (data) => {
      const lines = (rest + data).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) void this.receive(JSON.parse(line));
    });
    this.stdin.on("end", () => this.kill());
  }

  kill(): boolean {
    if (this.exitCode !== null) return false;
    this.killed = true;
    this.exitCode = 0;
    this.stdout.end();
    this.emit("exit", 0, null);
    return true;
  }

  private send(message: Fields): void {
    if (this.exitCode === null) this.stdout.write(`${JSON.stringify(message)}\n`);
  }

  private async receive(message: Fields): Promise<void> {
    if (message.type === "control_response") {
      this.waiting.get(message.response.request_id)?.(message.response.response ?? {});
    } else if (message.type === "control_request") {
      if (message.request.subtype === "initialize") this.hooks = message.request.hooks ?? {};
      const response = { commands: [], models: [], agents: [], account: {}, output_style: "default", available_output_styles: [] };
      this.send({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } });
    } else if (message.type === "user") {
      await this.turn(message.message.content);
    }
  }

  /** Calls the hooks of an event, and returns what they answer together. */
  private async hook(hook_event_name: string, fields: Fields): Promise<Fields> {
    const input = { session_id: "s", transcript_path: "", cwd: "/", hook_event_name, ...fields };
    const answers = (this.hooks[hook_event_name] ?? []).flatMap(({ hookCallbackIds }) =>
      hookCallbackIds.map(async (callback_id) => {
        const request_id = `cli-${++this.ids}`;
        const answer = new Promise<Fields>((resolve) => this.waiting.set(request_id, resolve));
        const request = { subtype: "hook_callback", callback_id, input, tool_use_id: fields.tool_use_id };
        this.send({ type: "control_request", request_id, request });
        return await answer;
      }),
    );
    const all = Object.assign({}, ...(await Promise.all(answers)));
    const context = all.hookSpecificOutput?.additionalContext;
    if (context) this.seen.push(context);
    return all;
  }

  private async turn(content: unknown): Promise<void> {
    const prompt = typeof content === "string" ? content : (content as Fields[]).map(({ text }) => text).join("");
    await this.hook("UserPromptSubmit", { prompt });
    let result = "";
    let requests = 0;
    for (let at = 0; at < 50; at++) {
      const step = this.steps[Math.min(at, this.steps.length - 1)] ?? "";
      requests++;
      const message = { id: `msg_${++this.ids}`, type: "message", role: "assistant", model: "script" };
      for (const block of blocks(step, message.id)) this.assistant({ ...message, content: [block] });
      if (typeof step === "string") {
        result = step;
        break;
      }
      if (!(await this.run(step, message.id))) break;
    }
    this.send({
      type: "result",
      subtype: "success",
      is_error: false,
      result,
      session_id: "s",
      uuid: `${++this.ids}`,
      usage: usageOf(requests),
    });
  }

  private assistant(message: Fields): void {
    const usage = { ...usageOf(1), output_tokens: 1 }; // that of the answer's start
    this.send({
      type: "assistant",
      message: { ...message, usage },
      parent_tool_use_id: null,
      session_id: "s",
      uuid: `${++this.ids}`,
    });
  }

  /** Runs the calls of a step, and returns whether the turn continues. */
  private async run(step: WantedCall[], id: string): Promise<boolean> {
    const tool_calls = await Promise.all(step.map((call, n) => this.call(call, `${id}-${n}`)));
    const content = tool_calls.map(({ tool_use_id, tool_response }) => ({
      type: "tool_result",
      tool_use_id,
      content: tool_response,
    }));
    this.send({ type: "user", message: { role: "user", content }, parent_tool_use_id: null, session_id: "s" });
    const answer = await this.hook("PostToolBatch", { tool_calls });
    return answer.continue !== false;
  }

  private async call({ tool: tool_name, args }: WantedCall, tool_use_id: string): Promise<Fields> {
    const { say: _, ...tool_input } = args;
    const call = { tool_name, tool_input, tool_use_id };
    const { hookSpecificOutput: answer } = await this.hook("PreToolUse", call);
    if (answer?.permissionDecision === "deny") return this.saw(call, answer.permissionDecisionReason);
    if (tool_name === "forbidden") return this.saw(call, "permission denied");
    let text: string;
    try {
      text = archive[tool_name]?.run(tool_input) ?? "";
    } catch (error) {
      const { message } = error as Error;
      const seen = this.saw(call, message);
      await this.hook("PostToolUseFailure", { ...call, error: message });
      return seen;
    }
    const seen = this.saw(call, text);
    await this.hook("PostToolUse", { ...call, tool_response: [{ type: "text", text }] });
    return seen;
  }

  private saw(call: Fields, tool_response: string): Fields {
    this.seen.push(tool_response);
    return { ...call, tool_response };
  }
}

/** Returns the blocks of an answer, each of which is a message of its own. A text beside calls is in the first call's args as "say". */
function blocks(step: Step, id: string): Fields[] {
  if (typeof step === "string") return [{ type: "text", text: step }];
  return step.flatMap(({ tool: name, args: { say, ...input } }, n) => [
    ...(say ? [{ type: "text", text: say }] : []),
    { type: "tool_use", id: `${id}-${n}`, name, input },
  ]);
}

function usageOf(requests: number): Fields {
  return {
    input_tokens: requests * (USAGE.input - 4),
    output_tokens: requests * USAGE.output,
    cache_read_input_tokens: requests * 4,
  };
}
