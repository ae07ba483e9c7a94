package otlp

import (
	"encoding/json"
	"strings"
)

// genAI reads OpenTelemetry's GenAI conventions, in their names since 1.37 and those before, with the additions of
// frameworks that follow them otherwise (Google's ADK, Pydantic AI, Strands). Tokens of a prompt include cached ones.
func genAI(s span) facts {
	switch genAIKind(s) {
	case tool:
		f := facts{
			kind:   tool,
			name:   s.text("gen_ai.tool.name"),
			callID: s.text("gen_ai.tool.call.id", "gen_ai.tool.call_id"),
			input: s.json("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input",
				"gcp.vertex.agent.tool_call_args", "tool_arguments"),
			output: s.json("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output",
				"gcp.vertex.agent.tool_response", "tool_response"),
		}
		if f.name == "" {
			f.name = strings.TrimPrefix(s.title(), "execute_tool ")
		}
		f.fill(facts{
			input:  s.inEvent("gen_ai.tool.message", "content"),
			output: s.inEvent("gen_ai.choice", "message"),
		})
		return f
	case model:
		return facts{
			kind:   model,
			model:  s.text("gen_ai.response.model", "gen_ai.request.model"),
			tokens: genAITokens(s),
			cost:   s.number("gen_ai.usage.cost", "operation.cost"),
		}
	case agent:
		f := facts{kind: agent}
		if name, ok := strings.CutPrefix(s.title(), "invoke_agent "); ok {
			f.agent = name
		}
		return f
	case workflow:
		return facts{kind: workflow}
	}
	return facts{}
}

func genAIKind(s span) kind {
	switch s.text("gen_ai.operation.name") {
	case "execute_tool":
		return tool
	case "chat", "text_completion", "generate_content":
		return model
	case "invoke_agent":
		return agent
	case "invoke_workflow":
		return workflow
	case "":
	default:
		return other
	}
	switch {
	case s.text("mcp.method.name") != "":
		return other
	case s.text("gen_ai.tool.name") != "", strings.HasPrefix(s.title(), "execute_tool "):
		return tool
	case strings.HasPrefix(s.title(), "invoke_agent "):
		return agent
	case s.text("gen_ai.request.model") != "" && genAITokens(s) > 0 && !isEmbedding(s):
		return model
	}
	return other
}

func genAITokens(s span) int64 {
	sum := s.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens") +
		s.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
	if sum == 0 {
		return s.count("gen_ai.usage.total_tokens", "llm.usage.total_tokens")
	}
	return sum
}

func isEmbedding(s span) bool {
	switch s.text("llm.request.type") {
	case "embedding", "rerank":
		return true
	}
	return false
}

// inEvent returns an attribute of the span's last event of the name, where older versions put contents.
func (s span) inEvent(name, key string) json.RawMessage {
	for i := s.Events().Len() - 1; i >= 0; i-- {
		if event := s.Events().At(i); event.Name() == name {
			if v, ok := event.Attributes().Get(key); ok {
				return asJSON(v)
			}
		}
	}
	return nil
}
