package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// openLLMetry reads OpenLLMetry, the conventions of Traceloop's instrumentations. Its spans of model calls have no kind, only
// gen_ai.* attributes.
func openLLMetry(s *span) trace.Facts {
	switch s.text("traceloop.span.kind") {
	case "tool":
		f := trace.Facts{
			Kind:  trace.Tool,
			Tool:  s.text("traceloop.entity.name"),
			Input: ingest.UnwrapArguments(s.json("traceloop.entity.input")),
		}
		f.Output, _, f.Refused = ingest.UnwrapResult(s.json("traceloop.entity.output"))
		if f.Tool == "" {
			f.Tool = strings.TrimSuffix(s.title(), ".tool")
		}
		return f
	case "agent":
		f := trace.Facts{Kind: trace.Agent, Agent: s.text("traceloop.entity.name")}
		if f.Agent == "" {
			f.Agent = strings.TrimSuffix(s.title(), ".agent")
		}
		return f
	case "workflow":
		return trace.Facts{Kind: trace.Workflow}
	}
	switch s.text("llm.request.type") {
	case "chat", "completion":
		return trace.Facts{
			Kind:   trace.Model,
			Model:  s.text("gen_ai.response.model", "gen_ai.request.model"),
			Tokens: genAITokens(s),
			Usage:  genAIUsage(s),

			Messages: genAIMessages(s),
		}
	}
	return trace.Facts{}
}
