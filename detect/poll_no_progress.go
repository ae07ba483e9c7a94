package detect

import "github.com/unloop-ai/unloop"

// PollNoProgress fires when a polling tool gave the same answer, to the byte, to at least Times equal calls in a row,
// within the last Window calls.
type PollNoProgress struct {
	Window int
	Times  int
}

// Info describes the rule.
func (PollNoProgress) Info() unloop.Info {
	return unloop.Info{Name: "poll_no_progress", At: unloop.AtStart, Needs: unloop.NeedResults | unloop.NeedExcerpts}
}

// Check counts the answers to the call that has just started, the latest first, until one differs. It looks at Window steps.
func (d PollNoProgress) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok || step.Effect != unloop.Polling {
		return unloop.Finding{}, false
	}
	n, result := 0, unloop.Hash(0)
	for k := 1; k < d.Window; k++ {
		s := r.StepAt(k)
		if s == nil {
			break
		}
		if s.ArgsHash != step.ArgsHash || s.ResultHash == 0 {
			continue
		}
		if n > 0 && s.ResultHash != result {
			break
		}
		n, result = n+1, s.ResultHash
	}
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "poll_no_progress", step.Tool, n, "%s gave the same answer %d times", step.Tool, n)
	callsThat(r, d.Window, func(s *unloop.Step) bool { return s.ArgsHash == step.ArgsHash }).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
