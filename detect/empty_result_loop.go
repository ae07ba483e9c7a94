package detect

import "github.com/unloop-ai/unloop"

// EmptyResultLoop fires when a tool has returned empty results.
type EmptyResultLoop struct {
	Times int // empty results of one tool in the run
}

// Info describes the rule.
func (EmptyResultLoop) Info() unloop.Info {
	return unloop.Info{Name: "empty_result_loop", At: unloop.AtEnd, Needs: unloop.NeedEmpty}
}

// Check looks at the tool of the call that has just completed.
func (d EmptyResultLoop) Check(r *unloop.Run) (unloop.Finding, bool) {
	step := r.Current().Step
	if step == nil || r.Current().Type != unloop.ToolCallCompleted || !step.Empty || step.Tool == "" {
		return unloop.Finding{}, false
	}
	n := r.Tool(step.Tool).Empty
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "empty_result_loop", step.Tool, n, "%s returned nothing %d times", step.Tool, n)
	var e evidence
	for k := range recent {
		s := r.StepAt(k)
		if s == nil || s.Empty && s.Tool == step.Tool && !e.add(s.End) {
			break
		}
	}
	e.attach(&f)
	return f, true
}
