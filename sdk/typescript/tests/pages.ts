// The pages with examples, and the agents that the examples import: their models are played by scripts, so that they run without keys.

import { blocks, compile } from "./harness.js";

/** The pages, each with the module my-agent.js, which it does not show. */
export const pages: Record<string, string> = {
  "docs/typescript.md": "",
  "sdk/typescript/README.md": "",
  "docs/ai-sdk.md": `
    import { jsonSchema, tool } from "ai";
    import { MockLanguageModelV3 } from "ai/test";
    const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } };
    export const model = new MockLanguageModelV3({ doGenerate: async () => ({
      content: [{ type: "tool-call", toolCallId: "c" + Math.random(), toolName: "search", input: '{"query":"the lost letter"}' }],
      finishReason: { unified: "tool-calls" }, usage, warnings: [] }) });
    export const search = tool({ inputSchema: jsonSchema({ type: "object" }), execute: async () => "0 results" });`,
  "docs/langchain-js.md": `
    import { AIMessage } from "@langchain/core/messages";
    import { BaseChatModel } from "@langchain/core/language_models/chat_models";
    import { tool } from "@langchain/core/tools";
    import { z } from "zod";
    class Script extends BaseChatModel {
      asked = 0;
      _llmType() { return "script"; }
      bindTools() { return this; }
      async _generate() {
        const wanted = [{ name: "search", args: { query: "the lost letter" }, id: "c" + this.asked++, type: "tool_call" }];
        const message = new AIMessage(this.asked < 20 ? { content: "", tool_calls: wanted } : "I give up.");
        return { generations: [{ text: "", message }] };
      }
    }
    export const model = new Script({});
    export const search = tool(async () => "0 results", { name: "search", description: "Searches.", schema: z.object({ query: z.string() }) });`,
  "docs/openai-agents-js.md": `
    import { setTraceProcessors, tool } from "@openai/agents";
    import { z } from "zod";
    setTraceProcessors([]); // no export to OpenAI
    export const search = tool({ name: "search", description: "Searches.", parameters: z.object({ query: z.string() }), execute: async () => "0 results" });`,
  "docs/mcp-typescript.md": `
    import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
    import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
    import { z } from "zod";
    const server = new McpServer({ name: "archive", version: "1" });
    server.registerTool("search", { inputSchema: { query: z.string() } }, async () => ({ content: [{ type: "text", text: "0 results" }] }));
    const [near, far] = InMemoryTransport.createLinkedPair();
    await server.connect(far);
    export const transport = near;`,
  "docs/claude-agent-sdk-js.md": `
    import { createSdkMcpServer } from "@anthropic-ai/claude-agent-sdk";
    export const archive = createSdkMcpServer({ name: "archive", tools: [] });`,
  "docs/mastra.md": `
    import { createTool } from "@mastra/core/tools";
    import { MockLanguageModelV3 } from "ai/test";
    import { z } from "zod";
    const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5 } };
    export const model = new MockLanguageModelV3({ doGenerate: async () => ({
      content: [{ type: "tool-call", toolCallId: "c" + Math.random(), toolName: "search", input: '{"query":"the lost letter"}' }],
      finishReason: { unified: "tool-calls" }, usage, warnings: [] }) });
    export const search = createTool({ id: "search", description: "Searches.", inputSchema: z.object({ query: z.string() }), execute: async () => "0 results" });`,
  "docs/opencode.md": "",
};

/** Returns the name of the file of a page's nth example. */
export const fileOf = (page: string, n: number): string => `${page.replaceAll(/\W/g, "-")}-${n}`;
const agentOf = (page: string): string => `${fileOf(page, 0)}-agent.js`;

/** Compiles the examples of pages, and returns the folder of the results. */
export async function compilePages(names: string[]): Promise<string> {
  const files: Record<string, string> = {};
  for (const page of names) {
    files[agentOf(page)] = `${pages[page]}\nexport {};\n`;
    for (const [n, code] of blocks(page).entries())
      files[`${fileOf(page, n)}.ts`] = code.replace("./my-agent.js", `./${agentOf(page)}`);
  }
  return await compile(files);
}
