package detect

import "github.com/unloop-ai/unloop"

// TurnTime fires when the turn takes too long, by the timestamps of its events.
type TurnTime struct {
	Seconds float64 // the longest time without a finding
}

// Info describes the rule.
func (TurnTime) Info() unloop.Info {
	return unloop.Info{Name: "turn_time", At: unloop.AtStart | unloop.AtEnd}
}

// Check compares the time of the latest event with that of the turn's first.
func (d TurnTime) Check(r *unloop.Run) (unloop.Finding, bool) {
	now, began := r.Current().Time, r.Turn().Began
	if now.IsZero() || began.IsZero() || now.Sub(began).Seconds() <= d.Seconds {
		return unloop.Finding{}, false
	}
	f := finding(r, "turn_time", "", 0, "the turn has taken %.0f s, over the %.0f s that it may take", now.Sub(began).Seconds(), d.Seconds)
	evidence{f.Event}.attach(&f)
	return f, true
}
