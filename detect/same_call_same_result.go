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
	return unloop.Info{Name: "same_call_same_result", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks at the step that has just ended.
func (d SameCallSameResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || step.Novel || step.Effect == unloop.Polling || step.Repeats.Weight < d.Weight || step.Failing && step.Repeats.N < d.Failures {
		return unloop.Finding{}, false
	}
	input, output := r.Excerpt(step)
	n := step.Repeats.N
	f := finding(r, "same_call_same_result", step.Tool, n, "%s %s brought the same result %d times: %s", step.Tool, input, n, output)
	f.Score = step.Repeats.Weight / d.Weight
	stepsThat(r, recent, func(s *unloop.Step) bool {
		return s.Question == step.Question && s.NormalizedResult == step.NormalizedResult
	}).attach(&f)
	f.Next = []unloop.Hash{step.Question}
	addNudgeContext(r, &f, 1)
	return f, true
}
