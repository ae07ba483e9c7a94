package detect

import "github.com/unloop-ai/unloop"

// RetryStorm fires at a retry if the run has had many.
type RetryStorm struct {
	Times int // retries in the run
}

// Info describes the rule.
func (RetryStorm) Info() unloop.Info { return unloop.Info{Name: "retry_storm", At: unloop.AtOther} }

// Check looks at the number of retries of the run.
func (d RetryStorm) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Type != unloop.RetryTriggered || r.Retries() < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "retry_storm", "", r.Retries(), "%d retries were triggered in this run", r.Retries())
	evidence{f.Event}.attach(&f)
	return f, true
}
