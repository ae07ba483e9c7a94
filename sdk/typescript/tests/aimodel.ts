// A model of the AI SDK that plays a script. Mastra runs it as well.

import type { LanguageModelV3Content, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import { convertArrayToReadableStream, MockLanguageModelV3 } from "ai/test";
import { type Step, USAGE } from "./works.js";

const usage = {
  inputTokens: { total: USAGE.input, noCache: 6, cacheRead: 4, cacheWrite: 0 },
  outputTokens: { total: USAGE.output, text: 3, reasoning: 2 },
};

/** A model that plays its steps, and the last one for ever. A text beside calls is in the first call's args as "say". */
export function script(steps: Step[]): MockLanguageModelV3 {
  let at = 0;
  const content = (): LanguageModelV3Content[] => {
    const step = steps[Math.min(at++, steps.length - 1)] ?? "";
    if (typeof step === "string") return [{ type: "text" as const, text: step }];
    return step.flatMap(({ tool: toolName, args: { say, ...args } }, n) => [
      ...(say ? [{ type: "text" as const, text: String(say) }] : []),
      { type: "tool-call" as const, toolCallId: `call_${at}_${n}`, toolName, input: JSON.stringify(args) },
    ]);
  };
  const finishReason = { unified: "stop" as const, raw: undefined };
  return new MockLanguageModelV3({
    modelId: "script",
    doGenerate: async () => ({ content: content(), finishReason, usage, warnings: [] }),
    doStream: async () => {
      const parts = content().flatMap((part, n): LanguageModelV3StreamPart[] =>
        part.type === "text"
          ? [
              { type: "text-start" as const, id: `${n}` },
              { type: "text-delta" as const, id: `${n}`, delta: part.text },
              { type: "text-end" as const, id: `${n}` },
            ]
          : [part as LanguageModelV3StreamPart],
      );
      return {
        stream: convertArrayToReadableStream([
          { type: "stream-start", warnings: [] },
          ...parts,
          { type: "finish", finishReason, usage },
        ]),
      };
    },
  });
}
