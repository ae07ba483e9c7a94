package detect

import "github.com/unloop-ai/unloop"

// RepeatedToolCallSimilarInput fires when a tool has been called repeatedly with inputs similar to that of its latest call. The
// measure of similarity is that of unloop.Tool.Similar.
type RepeatedToolCallSimilarInput struct {
	Times      int     // calls with a similar input, the latest included
	Similarity float64 // the least similarity, 0 to 1
}

// Info describes the rule.
func (RepeatedToolCallSimilarInput) Info() unloop.Info {
	return unloop.Info{Name: "repeated_tool_call_similar_input", At: unloop.AtStart, Needs: unloop.NeedInputs}
}

// Check compares the latest input with those that the run keeps for the tool: see unloop.Tool.Similar for the cost.
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
