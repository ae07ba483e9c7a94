package detect

import "github.com/unloop-ai/unloop"

// EmptyResult fires when a tool returned nothing at least Times times.
type EmptyResult struct {
	Times int
}

// Info describes the rule.
func (EmptyResult) Info() unloop.Info {
	return unloop.Info{Name: "empty_result_loop", At: unloop.AtEnd, Facts: unloop.FactEmpty}
}

// Check looks at the tool of the call that has just completed.
func (d EmptyResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step := r.Now().Step
	if step == nil || r.Now().Type != unloop.ToolCallCompleted || !step.Empty || step.Tool == "" {
		return unloop.Finding{}, false
	}
	n := r.Tool(step.Tool).Empty
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "empty_result_loop", step.Tool, n, "%s returned nothing %d times", step.Tool, n)
	var p proof
	for k := range recent {
		s := r.Back(k)
		if s == nil || s.Empty && s.Tool == step.Tool && !p.add(s.End) {
			break
		}
	}
	p.attach(&f)
	return f, true
}
