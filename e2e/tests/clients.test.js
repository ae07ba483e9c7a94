// The vendors' clients for TypeScript behind the proxies: they end in order with the answer of a halt. A script plays the model.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import OpenAI from "openai";
import { program, run } from "../server.js";

const args = JSON.stringify({ query: "loops" });
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** What the model answers in each API: always the same call. The number makes the ids. */
const answers = {
  "/v1/chat/completions": (n, stream) => {
    const call = { id: `call_${n}`, type: "function", function: { name: "search", arguments: args } };
    const base = { id: `c${n}`, created: 1, model: "m" };
    if (!stream) {
      const message = { role: "assistant", content: null, tool_calls: [call] };
      return { ...base, object: "chat.completion", usage, choices: [{ index: 0, finish_reason: "tool_calls", message }] };
    }
    const chunk = (delta, finish_reason) => ({ ...base, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] });
    return [chunk({ role: "assistant", tool_calls: [{ index: 0, ...call }] }, null), chunk({}, "tool_calls"), "[DONE]"];
  },
  "/v1/responses": (n, stream) => {
    const item = { type: "function_call", id: `fc_${n}`, call_id: `call_${n}`, name: "search", arguments: args, status: "completed" };
    const response = { id: `r${n}`, object: "response", created_at: 1, model: "m", status: "completed", output: [item], tools: [] };
    if (!stream) return response;
    return [
      { type: "response.created", sequence_number: 0, response: { ...response, status: "in_progress", output: [] } },
      { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { ...item, arguments: "" } },
      { type: "response.function_call_arguments.delta", sequence_number: 2, item_id: item.id, output_index: 0, delta: args },
      { type: "response.function_call_arguments.done", sequence_number: 3, item_id: item.id, output_index: 0, arguments: args },
      { type: "response.output_item.done", sequence_number: 4, output_index: 0, item },
      { type: "response.completed", sequence_number: 5, response },
    ];
  },
  "/v1/messages": (n, stream) => {
    const block = { type: "tool_use", id: `toolu_${n}`, name: "search", input: JSON.parse(args) };
    const message = { id: `m${n}`, type: "message", role: "assistant", model: "m", usage: { input_tokens: 1, output_tokens: 1 } };
    if (!stream) return { ...message, content: [block], stop_reason: "tool_use", stop_sequence: null };
    return [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: { ...block, input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: args } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ];
  },
};

/** Streams of the APIs that say a text again and again, until the client has gone. */
const words = {
  "/v1/chat/completions": (content) => [
    { id: "c", created: 1, model: "m", object: "chat.completion.chunk", choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }] },
  ],
  "/v1/responses": (text, first) => [
    ...(first
      ? [
          { type: "response.created", sequence_number: 0, response: { id: "r", object: "response", created_at: 1, model: "m", status: "in_progress", output: [], tools: [] } },
          { type: "response.output_item.added", sequence_number: 1, output_index: 0, item: { type: "message", id: "i", role: "assistant", status: "in_progress", content: [] } },
          { type: "response.content_part.added", sequence_number: 2, item_id: "i", output_index: 0, content_index: 0, part: { type: "output_text", text: "", annotations: [] } },
        ]
      : []),
    { type: "response.output_text.delta", sequence_number: 3, item_id: "i", output_index: 0, content_index: 0, delta: text, logprobs: [] },
  ],
  "/v1/messages": (text, first) => [
    ...(first
      ? [
          { type: "message_start", message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: { input_tokens: 1, output_tokens: 1 } } },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        ]
      : []),
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
  ],
};

/** send writes events of a stream. */
function send(response, events) {
  for (const event of events) {
    if (event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`);
  }
}

/** start returns the base of a proxy in front of a model that a script plays, and the bodies that reach it. */
async function start(owner, { flags = [], play } = {}) {
  const bodies = [];
  const model = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (await play?.(request.url, response, bodies)) return;
    const { stream } = JSON.parse(body);
    const answer = answers[request.url](bodies.length, stream);
    response.setHeader("Content-Type", stream ? "text/event-stream" : "application/json");
    if (!stream) return response.end(JSON.stringify(answer));
    send(response, answer);
    response.end();
  }).listen(0, "127.0.0.1");
  await once(model, "listening");
  const upstream = `http://127.0.0.1:${model.address().port}`;
  const proxy = run("proxy", "--addr", "127.0.0.1:0", "--mode", "guard", "--openai-upstream", upstream, "--anthropic-upstream", upstream, ...flags);
  owner.after(async () => {
    proxy.child.kill("SIGKILL");
    await proxy.ended;
    model.close();
  });
  while (!proxy.said.text.includes("GOOGLE_GEMINI_BASE_URL")) await once(proxy.child.stdout, "data");
  return { base: /OPENAI_BASE_URL=(\S+)\/openai\/v1/.exec(proxy.said.text)[1], bodies };
}

/** Each client asks the model once: it adds to the history, and returns the text if there is no call. */
const clients = {
  "openai chat": (base, stream) => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${base}/openai/v1` });
    return async (history) => {
      const request = { model: "m", messages: history };
      const completion = stream ? await client.chat.completions.stream(request).finalChatCompletion() : await client.chat.completions.create(request);
      const { content, tool_calls } = completion.choices[0].message;
      if (!tool_calls?.length) return content;
      history.push({ role: "assistant", content, tool_calls: tool_calls.map(({ id, type, function: f }) => ({ id, type, function: { name: f.name, arguments: f.arguments } })) });
      for (const { id } of tool_calls) history.push({ role: "tool", tool_call_id: id, content: "0 results" });
    };
  },
  "openai responses": (base, stream) => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${base}/openai/v1` });
    return async (history) => {
      const request = { model: "m", input: history, store: false };
      const response = stream ? await client.responses.stream(request).finalResponse() : await client.responses.create(request);
      const calls = response.output.filter(({ type }) => type === "function_call");
      if (!calls.length) return response.output_text;
      if (response.output_text) history.push({ role: "assistant", content: response.output_text });
      for (const { type, call_id, name, arguments: given } of calls) {
        history.push({ type, call_id, name, arguments: given }, { type: "function_call_output", call_id, output: "0 results" });
      }
    };
  },
  anthropic: (base, stream) => {
    const client = new Anthropic({ apiKey: "none", baseURL: `${base}/anthropic` });
    return async (history) => {
      const request = { model: "m", max_tokens: 100, messages: history };
      const { content } = stream ? await client.messages.stream(request).finalMessage() : await client.messages.create(request);
      const calls = content.filter(({ type }) => type === "tool_use");
      if (!calls.length) return content.map(({ text }) => text).join("");
      history.push({ role: "assistant", content });
      history.push({ role: "user", content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "0 results" })) });
    };
  },
};

describe("a runaway agent behind unloop proxy", () => {
  for (const [name, client] of Object.entries(clients)) {
    for (const stream of [false, true]) {
      it(`ends with the answer of the halt: ${name}${stream ? ", streamed" : ""}`, async (t) => {
        const { base, bodies } = await start(t);
        const ask = client(base, stream);
        const history = [{ role: "user", content: "find it" }];
        let text;
        for (let n = 0; n < 60 && text === undefined; n++) text = await ask(history);
        assert.match(text ?? "", /^\[unloop\] [^]*no progress/);
        assert.ok(bodies.length > 4 && bodies.length < 40, `${bodies.length} requests reached the model`);
        assert.ok(bodies.some((body) => body.includes("[unloop] ")), "no request was nudged");
        const asked = bodies.length;
        history.push({ role: "user", content: "look under cycles" });
        await ask(history);
        assert.equal(bodies.length, asked + 1, "a person's message did not reach the model");
      });
    }
  }
});

/** Asks once with a client until it ends, and returns its text or its error. */
async function outcome(ask) {
  try {
    return { text: await ask([{ role: "user", content: "find it" }]) };
  } catch (error) {
    return { error };
  }
}

describe("a client behind unloop proxy", () => {
  for (const [name, client] of Object.entries(clients)) {
    it(`does not try a halt again that is an error, and tries an error of the API again: ${name}`, async (t) => {
      let busy = 0;
      const play = (_, response) => {
        if (busy <= 0) return false;
        busy--;
        response.writeHead(503, { "Content-Type": "application/json", "Retry-After-Ms": "1" });
        response.end(JSON.stringify({ type: "error", error: { type: "api_error", message: "come again" } }));
        return true;
      };
      const { base, bodies } = await start(t, { flags: ["--on-halt", "error"], play });
      const history = [{ role: "user", content: "find it" }];
      const ask = client(base, false);
      await assert.rejects(async () => {
        for (let n = 0; n < 60; n++) await ask(history);
      }, ({ status, message }) => status === 400 && message.includes("[unloop] "));
      assert.equal((await (await fetch(`${base}/healthz`)).json()).halted, 1);
      const asked = bodies.length;
      busy = 2;
      await ask([{ role: "user", content: "find something else" }]);
      assert.equal(bodies.length, asked + 3);
    });

    it(`reads a stream that repeats itself to an end in order: ${name}`, async (t) => {
      const text = "Let me check the file once more. ";
      let gone;
      const play = async (url, response) => {
        response.setHeader("Content-Type", "text/event-stream");
        gone = once(response, "close");
        for (let n = 0; n < 400 && !response.destroyed; n++) send(response, words[url](text, n === 0));
        return true;
      };
      const { base } = await start(t, { play });
      const { text: said, error } = await outcome(client(base, true));
      assert.equal(error, undefined);
      assert.match(said, /\[unloop\] The answer was stopped here: its last 33 bytes repeat\.$/);
      await gone;
    });
  }

  it("cancels a call of the API", async (t) => {
    let held;
    const play = (url, response) => {
      held = once(response, "close");
      response.setHeader("Content-Type", "text/event-stream");
      send(response, words[url]("one", true));
      return true;
    };
    const { base } = await start(t, { play });
    const messages = [{ role: "user", content: "find it" }];
    const openai = new OpenAI({ apiKey: "none", baseURL: `${base}/openai/v1` });
    const anthropic = new Anthropic({ apiKey: "none", baseURL: `${base}/anthropic` });
    const streams = [
      () => openai.chat.completions.create({ model: "m", messages, stream: true }), () => openai.responses.create({ model: "m", input: messages, stream: true }),
      () => anthropic.messages.create({ model: "m", max_tokens: 9, messages, stream: true }),
    ];
    for (const ask of streams) {
      for await (const event of await ask()) {
        assert.ok(event);
        break;
      }
      await held;
    }
  });

  /** withCall puts a call at a place, 0 or 1, beside the call of an answer. */
  const other = JSON.stringify({ query: "harbour" });
  const withCall = {
    "/v1/chat/completions": (answer, stream, at) => {
      const call = { id: "call_other", type: "function", function: { name: "search", arguments: other } };
      if (!stream) return answer.choices[0].message.tool_calls.splice(at, 0, call);
      answer[0].choices[0].delta.tool_calls[0].index = 1 - at;
      answer.splice(at, 0, { ...answer[0], choices: [{ index: 0, delta: { role: "assistant", tool_calls: [{ index: at, ...call }] }, finish_reason: null }] });
    },
    "/v1/responses": (answer, stream, at) => {
      const item = { type: "function_call", id: "fc_other", call_id: "call_other", name: "search", arguments: other, status: "completed" };
      const { output } = stream ? answer.at(-1).response : answer;
      output.splice(at, 0, item);
      if (!stream) return;
      for (const event of answer) if (event.output_index === 0) event.output_index = 1 - at;
      answer.splice(
        at ? answer.length - 1 : 1, 0, { type: "response.output_item.added", output_index: at, item },
        { type: "response.output_item.done", output_index: at, item },
      );
      answer.forEach((event, number) => (event.sequence_number = number));
    },
    "/v1/messages": (answer, stream, at) => {
      const block = { type: "tool_use", id: "toolu_other", name: "search", input: {} };
      if (!stream) return answer.content.splice(at, 0, { ...block, input: JSON.parse(other) });
      for (const event of answer) if (event.index === 0) event.index = 1 - at;
      answer.splice(
        at ? answer.length - 2 : 1, 0, { type: "content_block_start", index: at, content_block: block },
        { type: "content_block_delta", index: at, delta: { type: "input_json_delta", partial_json: other } }, { type: "content_block_stop", index: at },
      );
    },
  };

  for (const [name, client] of Object.entries(clients)) for (const stream of [false, true]) for (const at of [0, 1]) {
    it(`gets an answer without the ${at ? "first" : "second"} call, which continues the loop: ${name}${stream ? ", streamed" : ""}`, async (t) => {
      const play = (url, response, bodies) => {
        if (bodies.filter((body) => body.includes("[unloop] ")).length < 3) return false;
        const answer = answers[url](bodies.length, stream);
        withCall[url](answer, stream, at);
        response.setHeader("Content-Type", stream ? "text/event-stream" : "application/json");
        if (stream) send(response, answer);
        response.end(stream ? "" : JSON.stringify(answer));
        return true;
      };
      const { base } = await start(t, { play });
      const history = [{ role: "user", content: "find it" }];
      const ask = client(base, stream);
      for (let n = 0; n < 40 && !JSON.stringify(history).includes("harbour"); n++) await ask(history);
      const from = history.findIndex((entry) => JSON.stringify(entry).includes("harbour"));
      const said = JSON.stringify(history.slice(from - (name === "openai responses" ? 1 : 0)).filter(({ role, type }) => role === "assistant" || type === "function_call"));
      assert.match(said, /\[unloop\] The call of search was not made\./);
      assert.doesNotMatch(said, /"(call|toolu)_\d/);
    });
  }
});

/** The reference servers, and a call of each that may be repeated. */
const servers = {
  everything: { args: () => ["node_modules/@modelcontextprotocol/server-everything/dist/index.js"], tool: "echo", input: () => ({ message: "again" }) },
  filesystem: {
    args: (folder) => ["node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", folder], tool: "read_text_file",
    input: (folder) => ({ path: join(folder, "a.txt") }),
  },
};

describe("a reference server behind unloop mcp-proxy", () => {
  for (const [name, { args, tool, input }] of Object.entries(servers)) {
    it(`serves its tools, and a call that repeats is nudged, then blocked: ${name}`, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), "unloop-mcp-"));
      await writeFile(join(folder, "a.txt"), "the same text");
      const cwd = join(import.meta.dirname, "..");
      const direct = new Client({ name: "test", version: "1" });
      const proxied = new Client({ name: "test", version: "1" });
      t.after(async () => {
        await Promise.all([direct.close(), proxied.close()]);
        await rm(folder, { recursive: true, force: true });
      });
      await direct.connect(new StdioClientTransport({ command: process.execPath, args: args(folder), cwd, stderr: "ignore" }));
      const command = ["mcp-proxy", "--", process.execPath, ...args(folder)];
      await proxied.connect(new StdioClientTransport({ command: program, args: command, cwd, stderr: "ignore" }));
      assert.deepEqual(await proxied.listTools(), await direct.listTools());
      assert.deepEqual(proxied.getServerCapabilities(), direct.getServerCapabilities());
      const call = { name: tool, arguments: input(folder) };
      assert.deepEqual(await proxied.callTool(call), await direct.callTool(call));
      const text = ({ content }) => content.map(({ text }) => text).join("\n");
      let nudged = 0;
      let result;
      for (let n = 0; n < 40 && !result?.isError; n++) {
        result = await proxied.callTool(call);
        if (!result.isError && text(result).includes("[unloop] ")) nudged++;
      }
      assert.ok(nudged > 0, "no result was nudged");
      assert.match(text(result), /^\[unloop\] /);
    });
  }
});
