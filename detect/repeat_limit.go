package detect

import "github.com/unloop-ai/unloop"

// RepeatLimit fires when a call comes more than Times times with the same arguments, to the byte.
type RepeatLimit struct {
	Times int
}

// Info describes the rule.
func (RepeatLimit) Info() unloop.Info {
	return unloop.Info{Name: "repeat_limit", At: unloop.AtStart, Facts: unloop.FactRaw | unloop.FactExcerpts}
}

// Check looks at the call that has just started.
func (d RepeatLimit) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := started(r)
	if !ok || step.SameRaw <= d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeat_limit", step.Tool, step.SameRaw, "%s was called %d times with the same arguments", step.Tool, step.SameRaw)
	callsThat(r, recent, func(s *unloop.Step) bool { return s.Raw == step.Raw }).attach(&f)
	tell(r, &f, 1)
	return f, true
}
