// The works of the golden table: what a scripted model does, and the verdict of the server. Every adapter in both languages reports the
// same works, so the table holds for all of them. sdk/testdata/works.json has the works and the verdicts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { METER, root, type Server, until } from "./harness.js";

export interface WantedCall {
  tool: string;
  args: Record<string, unknown>;
}

/** What a scripted model answers: calls, or a text. */
export type Step = WantedCall[] | string;

export interface Verdict {
  warnings: [rule: string, subject: string, count: number][];
  status: string;
  total_tool_calls: number;
  total_llm_calls: number;
  total_handoffs: number;
  total_tokens: number;
}

export interface Work {
  name: string;
  /** The calls that the model wants, those of a step at once. */
  steps: WantedCall[][];
  verdicts: Record<string, Verdict>;
}

export const works: Work[] = JSON.parse(readFileSync(join(root, "sdk/testdata/works.json"), "utf8"));

/** The tokens of each model call. */
export const USAGE = { input: 10, output: 5 };

class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** The tools of the works. */
export const tools: Record<string, { description: string; parameter: string; run(args: Record<string, unknown>): string }> = {
  search: { description: "Searches the archive.", parameter: "query", run: () => "one letter, of 1911" },
  read: {
    description: "Reads a page of the diary.",
    parameter: "page",
    run: ({ page }) => `page ${page}: ${Array.from({ length: 12 }, (_, n) => `word${Number(page) * 31 + n}`).join(" ")}`,
  },
  fetch: {
    description: "Fetches a page of the web.",
    parameter: "url",
    run: () => {
      throw new ConnectionError("the host does not answer");
    },
  },
  find_letter: { description: "Searches where nothing is.", parameter: "query", run: () => "No results found." },
  borrow: {
    description: "Borrows a book, or says why not.",
    parameter: "book",
    run: () => {
      throw new Error("the library is closed");
    },
  },
};

/** Waits for the end of a run, and returns the part of its verdict that is equal for all adapters. */
export async function verdict(server: Server, run: string): Promise<Verdict> {
  const path = `/api/runs/${encodeURIComponent(run)}`;
  await until(async () => (await server.get(path))?.ended_at != null);
  const { total_tool_calls, total_llm_calls, total_handoffs, total_tokens } = await server.get(`${path}/metrics`);
  const found = (await server.warnings(run)).filter((warning) => warning.type !== METER);
  const warnings = found.map(({ type, subject, count }): Verdict["warnings"][number] => [type, subject, count]);
  warnings.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { warnings, status: (await server.get(path)).status, total_tool_calls, total_llm_calls, total_handoffs, total_tokens };
}
