package detect

import "github.com/unloop-ai/unloop"

// StuckPolling fires when a polling tool brought the same answer to the same question at least Times times in a row.
type StuckPolling struct {
	Times int
}

// Info describes the rule.
func (StuckPolling) Info() unloop.Info {
	return unloop.Info{Name: "stuck_polling", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks at the answers to the question of the step that has just ended: at the tool's row where that is all about
// one question, else at the steps that are remembered, since the tool may be asked about several things in turn.
func (d StuckPolling) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || step.Effect != unloop.Polling {
		return unloop.Finding{}, false
	}
	same := sameAnswers(r, step)
	n := len(same)
	row := &r.Tool(step.Tool).Streak
	if row.Inputs == 1 {
		n = row.Count
	}
	if n < d.Times {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stuck_polling", step.Tool, n, "%s gave the same answer %d times in a row: %s", step.Tool, n, output)
	f.Score = float64(n) / float64(d.Times)
	f.Advisory = n < 2*d.Times // some things take their time
	same.latest(unloop.MaxEvidence).attach(&f)
	if row.Inputs == 1 {
		f.First, f.Next = row.First, []unloop.Hash{step.Question}
		addNudgeContext(r, &f, 1)
	}
	return f, true
}

// sameAnswers gathers the ends of the latest steps that asked what step asked, up to one that brought another answer.
func sameAnswers(r *unloop.Run, step *unloop.Step) evidence {
	var p evidence
	for k := range recent {
		s := r.StepAt(k)
		if s == nil || s.ArgsHash == step.ArgsHash && s.NormalizedResult != 0 && s.NormalizedResult != step.NormalizedResult {
			break
		}
		if s.ArgsHash == step.ArgsHash && s.NormalizedResult != 0 {
			p = append(p, s.End)
		}
	}
	return p
}
