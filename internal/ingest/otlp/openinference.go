package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// openInference reads OpenInference, the conventions of Arize's instrumentations.
func openInference(s *span) trace.Facts {
	kind := strings.ToUpper(s.text("openinference.span.kind"))
	if kind == "AGENT" && s.text("tool.name") != "" { // LangChain marks everything whose name contains "agent" as an agent
		kind = "TOOL"
	}
	switch kind {
	case "TOOL":
		f := trace.Facts{
			Kind:   trace.Tool,
			Tool:   s.text("tool.name"),
			CallID: s.text("tool.id", "tool_call.id"),
			Input:  ingest.UnwrapArguments(s.json("input.value", "tool.parameters")),
		}
		f.Output, _, f.Refused = ingest.UnwrapResult(s.json("output.value"))
		if f.Tool == "" {
			f.Tool = s.title()
		}
		return f
	case "LLM":
		f := trace.Facts{
			Kind:   trace.Model,
			Model:  s.text("llm.response.model_name", "llm.model_name", "llm.request.model_name"),
			Tokens: s.count("llm.token_count.total"),
			Cost:   s.number("llm.cost.total"),
			Usage: trace.Usage{
				Input:       s.count("llm.token_count.prompt"),
				Output:      s.count("llm.token_count.completion"),
				CachedInput: s.count("llm.token_count.prompt_details.cache_read", "llm.token_count.prompt_details.cache_input"),
				CacheWrite:  s.count("llm.token_count.prompt_details.cache_write"),
				Reasoning:   s.count("llm.token_count.completion_details.reasoning"),
			}.Whole(),
			Messages: openInferenceMessages(s),
		}
		if f.Tokens == 0 {
			f.Tokens = f.Usage.Input + f.Usage.Output
		}
		return f
	case "AGENT":
		f := trace.Facts{Kind: trace.Agent, Agent: s.text("graph.node.name", "graph.node.id")}
		if f.Agent == "" {
			f.Agent = s.title()
		}
		return f
	case "CHAIN":
		return trace.Facts{Kind: trace.Workflow}
	}
	return trace.Facts{}
}
