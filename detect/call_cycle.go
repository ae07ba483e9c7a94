package detect

import "github.com/unloop-ai/unloop"

// CallCycle fires when the latest calls repeat a pattern at least twice in a row, at each call that completes a round. Calls are
// equal if Step.ArgsHash is. Of several patterns, the shortest counts. The finding's Count is the number of rounds.
type CallCycle struct {
	Longest int // calls in the longest pattern, at most unloop.MaxPeriod
}

// Info describes the rule.
func (CallCycle) Info() unloop.Info {
	return unloop.Info{Name: "call_cycle", At: unloop.AtStart, Needs: unloop.NeedExcerpts}
}

// Check looks for the shortest pattern that the latest calls repeat.
func (d CallCycle) Check(r *unloop.Run) (unloop.Finding, bool) {
	if _, ok := currentStart(r); !ok {
		return unloop.Finding{}, false
	}
	period, rounds := r.CallPeriods().Shortest(d.Longest)
	if period == 0 || !r.CallPeriods().Whole(period) {
		return unloop.Finding{}, false
	}
	f := finding(r, "call_cycle", subjectOf(r, period), rounds, "the same %d calls were made %d times in a row", period, rounds)
	if period == 1 {
		f.What = "the same call was made " + times(rounds) + " in a row"
	}
	f.Period = period
	callsThat(r, period*rounds, func(*unloop.Step) bool { return true }).attach(&f)
	addNudgeContext(r, &f, period)
	return f, true
}
