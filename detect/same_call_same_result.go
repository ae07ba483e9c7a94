package detect

import "github.com/unloop-ai/unloop"

// SameCallSameResult fires when the same call brought the same result so often that the occurrences weigh at least
// Weight: one weighs 1 when it happens and half as much every 24 steps later. If it fails, it must also have come Failures
// times: to try again a little later is no loop.
type SameCallSameResult struct {
	Weight   float64
	Failures int
}

// Info describes the rule.
func (SameCallSameResult) Info() unloop.Info {
	return unloop.Info{Name: "same_call_same_result", At: unloop.AtStale, Facts: unloop.FactOutcomes | unloop.FactExcerpts}
}

// Check looks at the step that has just ended.
func (d SameCallSameResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := ended(r)
	if !ok || step.News || step.Class == unloop.Polling || step.Again.Weight < d.Weight || step.Failing && step.Again.N < d.Failures {
		return unloop.Finding{}, false
	}
	input, output := r.Excerpt(step)
	n := step.Again.N
	f := finding(r, "same_call_same_result", step.Tool, n, "%s %s brought the same result %d times: %s", step.Tool, input, n, output)
	f.Score = step.Again.Weight / d.Weight
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Target == step.Target && s.Stable == step.Stable }).attach(&f)
	f.Next = []unloop.Hash{step.Target}
	tell(r, &f, 1)
	return f, true
}
