package detect

import "github.com/unloop-ai/unloop"

// CostSpike fires at an event that cost more than Share of the run's cost so far, itself included, once that is over
// Floor US dollars.
type CostSpike struct {
	Share float64
	Floor float64
}

// Info describes the rule.
func (CostSpike) Info() unloop.Info { return unloop.Info{Name: "cost_spike", At: unloop.AtAny} }

// Check looks at the cost of the latest event.
func (d CostSpike) Check(r *unloop.Run) (unloop.Finding, bool) {
	cost, total := r.Current().Cost, r.Cost()
	if cost <= 0 || total <= d.Floor || cost <= d.Share*total {
		return unloop.Finding{}, false
	}
	f := finding(r, "cost_spike", r.Current().Ref.ID, 0, "one event cost $%.4f of the $%.4f that the run has cost so far", cost, total)
	evidence{f.Event}.attach(&f)
	return f, true
}
