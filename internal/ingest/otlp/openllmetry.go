package otlp

import "strings"

// openLLMetry reads OpenLLMetry, which Traceloop's instrumentations write. Its spans of model calls have no kind of
// their own but gen_ai.* attributes.
func openLLMetry(s span) facts {
	switch s.text("traceloop.span.kind") {
	case "tool":
		f := facts{
			kind:   tool,
			name:   s.text("traceloop.entity.name"),
			input:  arguments(s.json("traceloop.entity.input")),
			output: result(s.json("traceloop.entity.output")),
		}
		if f.name == "" {
			f.name = strings.TrimSuffix(s.title(), ".tool")
		}
		return f
	case "agent":
		f := facts{kind: agent, agent: s.text("traceloop.entity.name")}
		if f.agent == "" {
			f.agent = strings.TrimSuffix(s.title(), ".agent")
		}
		return f
	case "workflow":
		return facts{kind: workflow}
	}
	switch s.text("llm.request.type") {
	case "chat", "completion":
		return facts{
			kind:   model,
			model:  s.text("gen_ai.response.model", "gen_ai.request.model"),
			tokens: genAITokens(s),
		}
	}
	return facts{}
}
