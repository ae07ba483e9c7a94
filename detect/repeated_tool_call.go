package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCall fires when the last Window tool calls hold one tool at least Times times.
type RepeatedToolCall struct {
	Window int
	Times  int
}

// Info describes the rule.
func (RepeatedToolCall) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call", At: unloop.AtStart}
}

// Check counts the latest call's tool in the window. It looks at Window steps.
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
