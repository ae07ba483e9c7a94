package detect

import "github.com/unloop-ai/unloop"

// StuckPolling fires when a polling tool returned the same result to the same input several times in a row. The finding is
// Advisory below 2·Times, because a job may take long.
type StuckPolling struct {
	Times int // results in a row; calls with other inputs may be in between
}

// Info describes the rule.
func (StuckPolling) Info() unloop.Info {
	return unloop.Info{Name: "stuck_polling", At: unloop.AtStale, Needs: unloop.NeedOutcomes | unloop.NeedExcerpts}
}

// Check looks at the results for the input of the step that has just ended. If the streak of the tool has one input, its length
// counts. Otherwise the tool may poll several jobs in turn, and the results for this input among the latest steps count.
func (d StuckPolling) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentOutcome(r)
	if !ok || step.Effect != unloop.Polling || r.Tool(step.Tool).Waits {
		return unloop.Finding{}, false
	}
	same := sameAnswers(r, step)
	n := len(same)
	row := &r.Tool(step.Tool).Streak
	if row.Inputs == 1 {
		n = row.Count
	}
	times := d.Times
	if r.Tool(step.Tool).Shell { // the command contains a pause
		times += times / 2
	}
	if n < times {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stuck_polling", step.Tool, n, "%s returned the same result %d times in a row: %s", step.Tool, n, orEmpty(output))
	f.Score = float64(n) / float64(times)
	f.Advisory = n < 2*times // a job may take long
	same.latest(unloop.MaxEvidence).attach(&f)
	if row.Inputs == 1 {
		f.First, f.Next = row.First, []unloop.Hash{step.Question}
		addNudgeContext(r, &f, 1)
	}
	return f, true
}

// sameAnswers collects the ends of the latest steps with the input of step, back to the first with another result.
func sameAnswers(r *unloop.Run, step *unloop.Step) evidence {
	var e evidence
	for s := range latestSteps(r, recent) {
		if s.ArgsHash == step.ArgsHash && s.NormalizedResult != 0 && s.NormalizedResult != step.NormalizedResult {
			break
		}
		if s.ArgsHash == step.ArgsHash && s.NormalizedResult != 0 {
			e = append(e, s.End)
		}
	}
	return e
}
