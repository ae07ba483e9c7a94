package detect

import "github.com/unloop-ai/unloop"

// RepeatLimit fires when a call comes more than Times times with the same arguments, to the byte.
type RepeatLimit struct {
	Times int
}

// Info describes the rule.
func (RepeatLimit) Info() unloop.Info {
	return unloop.Info{Name: "repeat_limit", At: unloop.AtStart, Needs: unloop.NeedRaw | unloop.NeedExcerpts}
}

// Check looks at the call that has just started.
func (d RepeatLimit) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok || step.RawCount <= d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeat_limit", step.Tool, step.RawCount, "%s was called %d times with the same arguments", step.Tool, step.RawCount)
	callsThat(r, recent, func(s *unloop.Step) bool { return s.RawHash == step.RawHash }).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
