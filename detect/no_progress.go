package detect

import "github.com/unloop-ai/unloop"

// NoProgress fires when a tool has been called repeatedly without a state update or a memory write since its first call.
type NoProgress struct {
	Times int // calls of the tool in the run
}

// Info describes the rule.
func (NoProgress) Info() unloop.Info { return unloop.Info{Name: "no_progress", At: unloop.AtStart} }

// Check looks at the tool of the call that has just started.
func (d NoProgress) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok {
		return unloop.Finding{}, false
	}
	t := r.Tool(step.Tool)
	if t.Calls < d.Times || r.Progressed(t) {
		return unloop.Finding{}, false
	}
	f := finding(r, "no_progress", step.Tool, t.Calls,
		"%s was called %d times, and no state update or memory write came in between", step.Tool, t.Calls)
	f.Severity = unloop.SeverityCritical
	callsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool }).attach(&f)
	return f, true
}
