package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/trace"
)

// genAI reads OpenTelemetry's GenAI conventions, with the names since 1.37 and the earlier ones, and the additions of frameworks
// that follow them (Google's ADK, Pydantic AI, Strands). Prompt tokens include cached ones.
func genAI(s *span) trace.Facts {
	switch genAIKind(s) {
	case trace.Tool:
		if s.text("gen_ai.tool.name") == adkMerged {
			return trace.Facts{}
		}
		f := trace.Facts{
			Kind:   trace.Tool,
			Tool:   s.text("gen_ai.tool.name"),
			CallID: s.text("gen_ai.tool.call.id", "gen_ai.tool.call_id"),
			Input: s.json("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input",
				"gcp.vertex.agent.tool_call_args", "tool_arguments"),
			Output: s.json("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output",
				"gcp.vertex.agent.tool_response", "tool_response"),
		}
		if f.Tool == "" {
			f.Tool = strings.TrimPrefix(s.title(), "execute_tool ")
		}
		if f.CallID == adkNone {
			f.CallID = ""
		}
		if f.Input == "{}" && f.Output == "{}" { // ADK without contents
			f.Input, f.Output = "", ""
		}
		if f.Input == "" {
			f.Input = s.inEvent("gen_ai.tool.message", "content")
		}
		if f.Output == "" {
			f.Output = s.inEvent("gen_ai.choice", "message")
		}
		return f
	case trace.Model:
		return trace.Facts{
			Kind:   trace.Model,
			Model:  s.text("gen_ai.response.model", "gen_ai.request.model"),
			Tokens: genAITokens(s),
			Usage:  genAIUsage(s),
			Cost:   s.number("gen_ai.usage.cost", "operation.cost"),

			Messages: genAIMessages(s),
		}
	case trace.Agent:
		f := trace.Facts{Kind: trace.Agent}
		if name, ok := strings.CutPrefix(s.title(), "invoke_agent "); ok {
			f.Agent = name
		}
		return f
	case trace.Workflow:
		return trace.Facts{Kind: trace.Workflow}
	}
	return trace.Facts{}
}

// Values of Google's ADK: its name as an instrumentation, the tool of a span about several calls that also have their own spans,
// and the id of a call without one.
const (
	adkScope  = "gcp.vertex.agent"
	adkMerged = "(merged tools)"
	adkNone   = "<not specified>"
)

func genAIKind(s *span) trace.Kind {
	switch s.text("gen_ai.operation.name") {
	case "execute_tool":
		return trace.Tool
	case "chat", "text_completion", "generate_content":
		return trace.Model
	case "invoke_agent":
		return trace.Agent
	case "invoke_workflow":
		return trace.Workflow
	case "":
	default:
		return trace.Other
	}
	switch {
	case s.text("mcp.method.name") != "":
		return trace.Other
	case s.text("gen_ai.tool.name") != "", strings.HasPrefix(s.title(), "execute_tool "):
		return trace.Tool
	case strings.HasPrefix(s.title(), "invoke_agent "):
		return trace.Agent
	case s.scope == adkScope && s.title() == "invocation":
		return trace.Workflow
	case s.text("gen_ai.request.model") != "" && genAITokens(s) > 0 && !isEmbedding(s):
		return trace.Model
	}
	return trace.Other
}

func genAITokens(s *span) int64 {
	u := genAIUsage(s)
	if u.Input+u.Output == 0 {
		return s.count("gen_ai.usage.total_tokens", "llm.usage.total_tokens")
	}
	return u.Input + u.Output
}

func genAIUsage(s *span) trace.Usage {
	return trace.Usage{
		Input:       s.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
		Output:      s.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
		CachedInput: s.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
		CacheWrite: s.count("gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens",
			"gen_ai.usage.cache_creation_input_tokens"),
		Reasoning: s.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.output_tokens.reasoning", "gen_ai.usage.reasoning_tokens"),
	}.Whole()
}

func isEmbedding(s *span) bool {
	switch s.text("llm.request.type") {
	case "embedding", "rerank":
		return true
	}
	return false
}

// inEvent returns an attribute of the span's last event with the name, where older versions put contents.
func (s *span) inEvent(name, key string) string {
	for i := s.Events().Len() - 1; i >= 0; i-- {
		if event := s.Events().At(i); event.Name() == name {
			if v, ok := event.Attributes().Get(key); ok {
				return asJSON(v)
			}
		}
	}
	return ""
}
