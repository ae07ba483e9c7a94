package detect

import "github.com/unloop-ai/unloop"

// CostSpike fires at an event whose cost exceeds a share of the cost of the run so far, this event included.
type CostSpike struct {
	Share float64 // 0 to 1
	Floor float64 // US dollars that the run must have cost
}

// Info describes the rule.
func (CostSpike) Info() unloop.Info { return unloop.Info{Name: "cost_spike", At: unloop.AtAny} }

// Check compares the cost of the latest event with that of the run.
func (d CostSpike) Check(r *unloop.Run) (unloop.Finding, bool) {
	cost, total := r.Current().Cost, r.Cost()
	if cost <= 0 || total <= d.Floor || cost <= d.Share*total {
		return unloop.Finding{}, false
	}
	f := finding(r, "cost_spike", r.Current().Ref.ID, 0, "one event cost $%.4f of the $%.4f that the run has cost so far", cost, total)
	evidence{f.Event}.attach(&f)
	return f, true
}
