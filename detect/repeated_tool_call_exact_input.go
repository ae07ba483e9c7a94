package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCallExactInput fires when a tool has been called repeatedly with the same input, and no other input of the tool is
// more frequent. Inputs are equal if their canonical JSON is.
type RepeatedToolCallExactInput struct {
	Times int // calls with the input in the run
}

// Info describes the rule.
func (RepeatedToolCallExactInput) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call_exact_input", At: unloop.AtStart, Needs: unloop.NeedArgs}
}

// Check looks at the most frequent input of the tool, if it is that of the call that has just started.
func (d RepeatedToolCallExactInput) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok || step.ArgsCount < d.Times || r.Tool(step.Tool).MostRepeated.ArgsHash != step.ArgsHash {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_tool_call_exact_input", step.Tool, step.ArgsCount,
		"%s was called %d times with the same input", step.Tool, step.ArgsCount)
	callsThat(r, recent, func(s *unloop.Step) bool { return s.ArgsHash == step.ArgsHash }).attach(&f)
	return f, true
}
