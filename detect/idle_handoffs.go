package detect

import "github.com/unloop-ai/unloop"

// IdleHandoffs fires when two agents handed over to each other at least Times times in a row, and between the first and
// the last of these handoffs steps were made or messages repeated, but nothing new was told.
type IdleHandoffs struct {
	Times int
}

// Info describes the rule.
func (IdleHandoffs) Info() unloop.Info {
	return unloop.Info{Name: "idle_handoffs", At: unloop.AtHandoff, Facts: unloop.FactOutcomes | unloop.FactTexts}
}

// Check looks at the agents that received control last.
func (d IdleHandoffs) Check(r *unloop.Run) (unloop.Finding, bool) {
	f, ok := HandoffBounce(d).Check(r)
	if !ok || r.LastNews().Number > f.First.Number || r.Stale() == 0 && r.Restated() < d.Times {
		return unloop.Finding{}, false
	}
	page := pages["idle_handoffs"]
	f.Rule, f.Why, f.Try = page.Rule, page.Why, page.Try
	f.What += ", and nothing new was told in between"
	f.Score = float64(f.Count) / float64(d.Times)
	return f, true
}
