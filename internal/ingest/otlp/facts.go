package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/trace"
)

// facts applies the dialects. The first that recognises the span determines its kind. The others may add missing facts.
func (s *span) facts() trace.Facts {
	if s.pending() {
		return trace.Facts{}
	}
	f := trace.Facts{Agent: s.text("gen_ai.agent.name", "agent.name", "agent_name")}
	for _, d := range [...]struct {
		is   bool
		read func(*span) trace.Facts
	}{
		{s.has("mcp."), mcp},
		{strings.HasPrefix(s.Name(), claudeCodePrefix), claudeCode},
		{true, genAI}, // it may recognise a span by its name only
		{s.has("openinference."), openInference},
		{s.has("traceloop.") || s.has("llm."), openLLMetry},
		{s.has("ai.") || strings.HasPrefix(s.Name(), "ai."), vercel},
		{s.has("logfire."), logfire},
	} {
		if !d.is {
			continue
		}
		facts := d.read(s)
		if f.Kind == trace.Other {
			f.Kind = facts.Kind
		}
		if f.Kind == facts.Kind {
			f.Fill(&facts)
		}
	}
	if s.logsMessages() {
		f.Messages = ""
	}
	if f.Kind == trace.Tool {
		f.MCP = f.MCP || s.fromMCP()
	}
	if f.Input == `""` {
		f.Input = ""
	}
	return f
}

// logsMessages reports whether the program also writes log records, which have its messages.
func (s *span) logsMessages() bool {
	return strings.HasPrefix(s.Name(), claudeCodePrefix) || s.scope == "gemini-cli"
}
