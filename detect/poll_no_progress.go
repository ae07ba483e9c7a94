package detect

import "github.com/unloop-ai/unloop"

// PollNoProgress fires when a polling tool returned the same result, byte by byte, to consecutive equal calls. Other calls may
// be in between.
type PollNoProgress struct {
	Window int // the latest calls that count, at most 32
	Times  int // equal results among them
}

// Info describes the rule.
func (PollNoProgress) Info() unloop.Info {
	return unloop.Info{Name: "poll_no_progress", At: unloop.AtStart, Needs: unloop.NeedResults | unloop.NeedExcerpts}
}

// Check counts the results of calls equal to the one that has just started, latest first, until one differs. It visits at
// most Window steps.
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
