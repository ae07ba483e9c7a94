package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCall fires when the latest calls contain one tool several times.
type RepeatedToolCall struct {
	Window int // the latest calls that count, at most 32
	Times  int // calls of the tool among them
}

// Info describes the rule.
func (RepeatedToolCall) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call", At: unloop.AtStart}
}

// Check counts the tool of the call that has just started among the last Window calls, which is its cost.
func (d RepeatedToolCall) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok {
		return unloop.Finding{}, false
	}
	n, seen := 0, 0
	for k := 0; seen < d.Window; k++ {
		s := r.StepAt(k)
		if s == nil {
			break
		}
		if s.Tool != "" {
			seen++
		}
		if s.Tool == step.Tool {
			n++
		}
	}
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_tool_call", step.Tool, n, "%s was called %d times within the last %d tool calls", step.Tool, n, d.Window)
	callsThat(r, d.Window, func(s *unloop.Step) bool { return s.Tool == step.Tool }).attach(&f)
	return f, true
}
