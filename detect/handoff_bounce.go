package detect

import "github.com/unloop-ai/unloop"

// HandoffBounce fires when the latest handoffs alternate between two agents.
type HandoffBounce struct {
	Times int // handoffs, at most 6, which a run keeps; all that it keeps must alternate
}

// Info describes the rule.
func (HandoffBounce) Info() unloop.Info {
	return unloop.Info{Name: "handoff_bounce", At: unloop.AtHandoff}
}

// Check looks at the agents of the latest handoffs.
func (d HandoffBounce) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Type != unloop.HandoffStarted || r.Current().Agent == "" {
		return unloop.Finding{}, false
	}
	agents, refs := r.Handoffs()
	n := len(agents)
	if n < d.Times || n < 2 || agents[n-1] == agents[n-2] {
		return unloop.Finding{}, false
	}
	for k := n - 3; k >= 0; k-- {
		if agents[k] != agents[k+2] {
			return unloop.Finding{}, false
		}
	}
	a, b := min(agents[0], agents[1]), max(agents[0], agents[1])
	f := finding(r, "handoff_bounce", a+"|"+b, n, "%s and %s handed over to each other %d times in a row", a, b, n)
	var e evidence
	for k := n - 1; k >= 0; k-- {
		e.add(refs[k])
	}
	e.attach(&f)
	return f, true
}
