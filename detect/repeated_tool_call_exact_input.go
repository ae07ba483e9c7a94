package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCallExactInput fires when one tool was called at least Times times with the same input, and no other input of the tool
// came more often.
type RepeatedToolCallExactInput struct {
	Times int
}

// Info describes the rule.
func (RepeatedToolCallExactInput) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call_exact_input", At: unloop.AtStart, Needs: unloop.NeedArgs}
}

// Check looks at the tool's largest group of equal inputs, if the latest call belongs to it.
func (d RepeatedToolCallExactInput) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok || step.ArgsCount < d.Times || r.Tool(step.Tool).MostRepeated.Exact != step.ArgsHash {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_tool_call_exact_input", step.Tool, step.ArgsCount,
		"%s was called %d times with the same input", step.Tool, step.ArgsCount)
	callsThat(r, recent, func(s *unloop.Step) bool { return s.ArgsHash == step.ArgsHash }).attach(&f)
	return f, true
}
