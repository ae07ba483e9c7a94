package detect

import "github.com/unloop-ai/unloop"

// CostBudgetExceeded fires when the cost of the run exceeds a budget.
type CostBudgetExceeded struct {
	Budget float64 // US dollars; 0 or less disables the rule
}

// Info describes the rule.
func (CostBudgetExceeded) Info() unloop.Info {
	return unloop.Info{Name: "cost_budget_exceeded", At: unloop.AtAny}
}

// Check compares the cost of the run with the budget.
func (d CostBudgetExceeded) Check(r *unloop.Run) (unloop.Finding, bool) {
	if d.Budget <= 0 || r.Cost() <= d.Budget {
		return unloop.Finding{}, false
	}
	f := finding(r, "cost_budget_exceeded", "", 0, "the run has cost $%.4f, over its budget of $%.2f", r.Cost(), d.Budget)
	evidence{f.Event}.attach(&f)
	return f, true
}
