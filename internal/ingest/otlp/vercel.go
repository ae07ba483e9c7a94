package otlp

import "strings"

// vercel reads the Vercel AI SDK (versions 3 to 6; later ones write GenAI attributes too). Its generate and stream
// spans enclose the whole loop of model calls and tools, with the sum of their tokens: only the spans below them
// whose names end in .doGenerate or .doStream are model calls.
func vercel(s span) facts {
	operation := s.text("ai.operationId")
	if operation == "" {
		operation = s.title()
	}
	base, step, _ := strings.Cut(strings.TrimPrefix(operation, "ai."), ".")
	if !strings.HasPrefix(operation, "ai.") {
		return facts{}
	}
	switch base {
	case "toolCall":
		return facts{
			kind:   tool,
			name:   s.text("ai.toolCall.name"),
			callID: s.text("ai.toolCall.id"),
			input:  s.json("ai.toolCall.args"),
			output: s.json("ai.toolCall.result"),
		}
	case "generateText", "streamText", "generateObject", "streamObject":
		if step == "doGenerate" || step == "doStream" {
			return facts{
				kind:  model,
				model: s.text("ai.response.model", "ai.model.id"),
				tokens: s.count("ai.usage.inputTokens", "ai.usage.promptTokens") +
					s.count("ai.usage.outputTokens", "ai.usage.completionTokens"),
			}
		}
		return facts{kind: agent, agent: s.text("ai.telemetry.functionId")}
	}
	return facts{}
}
