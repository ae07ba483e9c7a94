package detect

import "github.com/unloop-ai/unloop"

// ExactInput fires when one tool was called at least Times times with the same input, and no other input of the tool
// came more often.
type ExactInput struct {
	Times int
}

// Info describes the rule.
func (ExactInput) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call_exact_input", At: unloop.AtStart, Facts: unloop.FactExact}
}

// Check looks at the tool's largest group of equal inputs, if the latest call belongs to it.
func (d ExactInput) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := started(r)
	if !ok || step.Same < d.Times || r.Tool(step.Tool).Worst.Exact != step.Exact {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_tool_call_exact_input", step.Tool, step.Same,
		"%s was called %d times with the same input", step.Tool, step.Same)
	callsThat(r, recent, func(s *unloop.Step) bool { return s.Exact == step.Exact }).attach(&f)
	return f, true
}
