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
	return unloop.Info{Name: "poll_no_progress", At: unloop.AtStart, Facts: unloop.FactResults | unloop.FactExcerpts}
}

// Check counts the answers to the call that has just started, the latest first, until one differs. It looks at Window steps.
func (d PollNoProgress) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := started(r)
	if !ok || step.Class != unloop.Polling {
		return unloop.Finding{}, false
	}
	n, result := 0, unloop.Hash(0)
	for k := 1; k < d.Window; k++ {
		s := r.Back(k)
		if s == nil {
			break
		}
		if s.Exact != step.Exact || s.Result == 0 {
			continue
		}
		if n > 0 && s.Result != result {
			break
		}
		n, result = n+1, s.Result
	}
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "poll_no_progress", step.Tool, n, "%s gave the same answer %d times", step.Tool, n)
	callsThat(r, d.Window, func(s *unloop.Step) bool { return s.Exact == step.Exact }).attach(&f)
	tell(r, &f, 1)
	return f, true
}
