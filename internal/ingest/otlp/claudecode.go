package otlp

import (
	"strings"

	"github.com/unloop-ai/unloop/internal/trace"
)

const claudeCodePrefix = "claude_code."

// claudeCode reads Claude Code's spans (beta). The span of a call encloses that of its execution, which has the failure but not
// the tool. Prompt tokens do not include cached ones. An interaction is a turn, and its end does not end the run.
func claudeCode(s *span) trace.Facts {
	operation, ok := strings.CutPrefix(s.Name(), claudeCodePrefix)
	if !ok {
		return trace.Facts{}
	}
	f := trace.Facts{Agent: s.text("agent.name", "agent_id")}
	switch operation {
	case "tool", "tool.execution":
		f.Kind = trace.Tool
		f.Tool = s.text("tool_name")
		f.CallID = s.text("tool_use_id", "gen_ai.tool.call.id")
		f.Input = s.json("tool_input")
		if command := s.text("full_command"); f.Input == "" && command != "" {
			f.Input = `{"command":` + quoted(command) + `}`
		}
		if path := s.text("file_path"); f.Input == "" && path != "" {
			f.Input = `{"file_path":` + quoted(path) + `}`
		}
	case "llm_request":
		f.Kind = trace.Model
		f.Model = s.text("model", "gen_ai.request.model")
		f.CallID = s.text("request_id")
		f.Usage = s.anthropicUsage()
		f.Tokens = f.Usage.Input + f.Usage.Output
	}
	f.ByCall = f.CallID != ""
	return f
}

// anthropicUsage reads the tokens in spans and records of Claude Code.
func (a attributes) anthropicUsage() trace.Usage {
	u := trace.Usage{
		Output:      a.count("output_tokens"),
		CachedInput: a.count("cache_read_tokens"),
		CacheWrite:  a.count("cache_creation_tokens"),
	}
	u.Input = a.count("input_tokens") + u.CachedInput + u.CacheWrite
	return u
}
