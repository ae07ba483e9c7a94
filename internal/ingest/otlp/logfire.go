package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/trace"
)

// logfire reads Logfire's spans of the OpenAI Agents SDK, whose model calls follow GenAI. The name of a span is the template of
// its message, and attributes have the values.
func logfire(s *span) trace.Facts {
	template := s.text("logfire.msg_template")
	switch {
	case template == "":
		return trace.Facts{}
	case strings.HasPrefix(template, "Function: {name}"):
		return trace.Facts{Kind: trace.Tool, Tool: s.text("name"), Input: s.json("input"), Output: s.json("output")}
	case strings.HasPrefix(template, "Handoff: "):
		return trace.Facts{Kind: trace.Tool, Tool: trace.HandoffPrefix + s.text("to_agent"), Agent: s.text("from_agent")}
	case strings.HasPrefix(template, "Agent run: {name"):
		return trace.Facts{Kind: trace.Agent, Agent: s.text("name")}
	case strings.HasPrefix(template, "OpenAI Agents trace: {name"):
		return trace.Facts{Kind: trace.Workflow}
	}
	return trace.Facts{}
}

// pending reports whether the span only announces another span with the same facts.
func (s *span) pending() bool { return s.text("logfire.span_type") == "pending_span" }
