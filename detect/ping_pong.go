package detect

import "github.com/unloop-ai/unloop"

// PingPong fires when two different calls alternate without a gap.
type PingPong struct {
	Times int // calls of both together
}

// Info describes the rule.
func (PingPong) Info() unloop.Info {
	return unloop.Info{Name: "ping_pong", At: unloop.AtStart, Needs: unloop.NeedExcerpts}
}

// Check looks at how many of the latest calls repeat with period 2 and not with period 1.
func (d PingPong) Check(r *unloop.Run) (unloop.Finding, bool) {
	if _, ok := currentStart(r); !ok {
		return unloop.Finding{}, false
	}
	calls := r.CallPeriods()
	n := calls.Repeated(2) + 2
	if calls.Repeated(1) > 0 || calls.Repeated(2) == 0 || n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "ping_pong", subjectOf(r, 2), n, "two calls have alternated for %d calls", n)
	f.Period = 2
	callsThat(r, n, func(*unloop.Step) bool { return true }).attach(&f)
	addNudgeContext(r, &f, 2)
	return f, true
}
