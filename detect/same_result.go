package detect

import "github.com/unloop-ai/unloop"

// SameResult fires when a tool returned the same result at least Times times in a row to at least Inputs changes of its
// input.
type SameResult struct {
	Times  int
	Inputs int
}

// Info describes the rule.
func (SameResult) Info() unloop.Info {
	return unloop.Info{Name: "same_result", At: unloop.AtEnd, Facts: unloop.FactOutcomes | unloop.FactExcerpts}
}

// Check looks at the tool of the step that has just ended.
func (d SameResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := ended(r)
	if !ok || step.News || step.Outcome == unloop.Failed || step.Class == unloop.Polling {
		return unloop.Finding{}, false
	}
	row := &r.Tool(step.Tool).Streak
	if row.Count < d.Times || row.Inputs < d.Inputs {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "same_result", step.Tool, row.Count, "%s returned the same %d times in a row, to %d different inputs: %s",
		step.Tool, row.Count, row.Inputs, output)
	f.Score = float64(row.Count) / float64(d.Times)
	f.Weak = true // a batch over different items may well get the same answer each time
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool && s.Stable == step.Stable }).latest(row.Count).attach(&f)
	f.First = row.First
	tell(r, &f, 1)
	return f, true
}
