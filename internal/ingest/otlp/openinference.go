package otlp

import "strings"

// openInference reads OpenInference, which Arize's instrumentations write.
func openInference(s span) facts {
	switch strings.ToUpper(s.text("openinference.span.kind")) {
	case "TOOL":
		f := facts{
			kind:   tool,
			name:   s.text("tool.name"),
			callID: s.text("tool.id", "tool_call.id"),
			input:  arguments(s.json("input.value", "tool.parameters")),
			output: result(s.json("output.value")),
		}
		if f.name == "" {
			f.name = s.title()
		}
		return f
	case "LLM":
		f := facts{
			kind:   model,
			model:  s.text("llm.response.model_name", "llm.model_name", "llm.request.model_name"),
			tokens: s.count("llm.token_count.total"),
			cost:   s.number("llm.cost.total"),
		}
		if f.tokens == 0 {
			f.tokens = s.count("llm.token_count.prompt") + s.count("llm.token_count.completion")
		}
		return f
	case "AGENT":
		f := facts{kind: agent, agent: s.text("graph.node.name", "graph.node.id")}
		if f.agent == "" {
			f.agent = s.title()
		}
		return f
	case "CHAIN":
		return facts{kind: workflow}
	}
	return facts{}
}
