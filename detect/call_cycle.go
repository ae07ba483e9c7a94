package detect

import "github.com/unloop-ai/unloop"

// CallCycle fires when a pattern of up to Longest calls stands at the end of the run at least twice, at the call that
// completes a round. Of several the shortest counts.
type CallCycle struct {
	Longest int
}

// Info describes the rule.
func (CallCycle) Info() unloop.Info {
	return unloop.Info{Name: "call_cycle", At: unloop.AtStart, Needs: unloop.NeedExcerpts}
}

// Check looks for the shortest pattern at the end of the calls.
func (d CallCycle) Check(r *unloop.Run) (unloop.Finding, bool) {
	if _, ok := currentStart(r); !ok {
		return unloop.Finding{}, false
	}
	period, rounds := r.CallPeriods().Shortest(d.Longest)
	if period == 0 || !r.CallPeriods().Whole(period) {
		return unloop.Finding{}, false
	}
	f := finding(r, "call_cycle", subjectOf(r, period), rounds, "the same %d calls stand %d times in a row", period, rounds)
	if period == 1 {
		f.What = "the same call stands " + times(rounds) + " in a row"
	}
	f.Period = period
	callsThat(r, period*rounds, func(*unloop.Step) bool { return true }).attach(&f)
	addNudgeContext(r, &f, period)
	return f, true
}
