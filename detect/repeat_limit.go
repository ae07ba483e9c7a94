package detect

import "github.com/unloop-ai/unloop"

// RepeatLimit fires when a call is repeated beyond a limit, with the same arguments byte by byte.
type RepeatLimit struct {
	Times int // calls without a finding
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
