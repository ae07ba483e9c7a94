package detect

import "github.com/unloop-ai/unloop"

// StuckPolling fires when a polling tool brought the same answer at least Times times in a row.
type StuckPolling struct {
	Times int
}

// Info describes the rule.
func (StuckPolling) Info() unloop.Info {
	return unloop.Info{Name: "stuck_polling", At: unloop.AtEnd, Facts: unloop.FactOutcomes}
}

// Check looks at the tool of the step that has just ended.
func (d StuckPolling) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := ended(r)
	if !ok || step.Class != unloop.Polling {
		return unloop.Finding{}, false
	}
	row := &r.Tool(step.Tool).Streak
	if row.Count < d.Times || row.Inputs > 1 {
		return unloop.Finding{}, false
	}
	_, output := r.Excerpt(step)
	f := finding(r, "stuck_polling", step.Tool, row.Count, "%s gave the same answer %d times in a row: %s", step.Tool, row.Count, output)
	f.Score = float64(row.Count) / float64(d.Times)
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool && s.Stable == step.Stable }).latest(row.Count).attach(&f)
	f.First = row.First
	return f, true
}
