package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCallSimilarInput fires when at least Times calls of a tool had an input at least Similarity (0 to 1) alike that of its
// latest call.
type RepeatedToolCallSimilarInput struct {
	Times      int
	Similarity float64
}

// Info describes the rule.
func (RepeatedToolCallSimilarInput) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call_similar_input", At: unloop.AtStart, Needs: unloop.NeedInputs}
}

// Check compares the latest input with those that the run keeps of the tool: see unloop.Tool.Similar.
func (d RepeatedToolCallSimilarInput) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok {
		return unloop.Finding{}, false
	}
	t := r.Tool(step.Tool)
	if t.Calls < d.Times {
		return unloop.Finding{}, false
	}
	n := t.Similar(d.Similarity)
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_tool_call_similar_input", step.Tool, n,
		"%s was called %d times with nearly the same input (at least %.0f %% alike)", step.Tool, n, 100*d.Similarity)
	callsThat(r, 8, func(s *unloop.Step) bool { return s.Tool == step.Tool }).attach(&f)
	return f, true
}
