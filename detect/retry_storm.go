package detect

import "github.com/unloop-ai/unloop"

// RetryStorm fires when at least Times retries were triggered.
type RetryStorm struct {
	Times int
}

// Info describes the rule.
func (RetryStorm) Info() unloop.Info { return unloop.Info{Name: "retry_storm", At: unloop.AtOther} }

// Check counts the run's retries.
func (d RetryStorm) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Type != unloop.RetryTriggered || r.Retries() < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "retry_storm", "", r.Retries(), "%d retries were triggered in this run", r.Retries())
	evidence{f.Event}.attach(&f)
	return f, true
}
