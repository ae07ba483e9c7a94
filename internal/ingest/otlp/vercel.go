package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/trace"
)

// vercel reads the Vercel AI SDK (versions 3 to 6; later ones also write GenAI attributes). Its generate and stream spans enclose
// the whole loop of model calls and tools, with the sum of their tokens. Only the spans inside them whose names end in
// .doGenerate or .doStream are model calls.
func vercel(s *span) trace.Facts {
	operation := s.text("ai.operationId")
	if operation == "" {
		operation = s.title()
	}
	base, step, _ := strings.Cut(strings.TrimPrefix(operation, "ai."), ".")
	if !strings.HasPrefix(operation, "ai.") {
		return trace.Facts{}
	}
	switch base {
	case "toolCall":
		return trace.Facts{
			Kind:   trace.Tool,
			Tool:   s.text("ai.toolCall.name"),
			CallID: s.text("ai.toolCall.id"),
			Input:  s.json("ai.toolCall.args"),
			Output: s.json("ai.toolCall.result"),
		}
	case "generateText", "streamText", "generateObject", "streamObject":
		if step == "doGenerate" || step == "doStream" {
			u := trace.Usage{
				Input:       s.count("ai.usage.inputTokens", "ai.usage.promptTokens"),
				Output:      s.count("ai.usage.outputTokens", "ai.usage.completionTokens"),
				CachedInput: s.count("ai.usage.cachedInputTokens"),
				Reasoning:   s.count("ai.usage.reasoningTokens"),
			}
			return trace.Facts{
				Kind: trace.Model, Model: s.text("ai.response.model", "ai.model.id"), Tokens: u.Input + u.Output, Usage: u,
				Messages: encodeMessages(s.messages("ai.prompt.messages"), s.text("ai.response.text", "ai.result.text")),
			}
		}
		return trace.Facts{Kind: trace.Agent, Agent: s.text("ai.telemetry.functionId")}
	}
	return trace.Facts{}
}
