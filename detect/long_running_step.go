package detect

import "github.com/unloop-ai/unloop"

// LongRunningStep fires at an event with a high latency.
type LongRunningStep struct {
	Milliseconds float64 // the highest latency without a finding
}

// Info describes the rule.
func (LongRunningStep) Info() unloop.Info {
	return unloop.Info{Name: "long_running_step", At: unloop.AtAny}
}

// Check looks at the latency of the latest event.
func (d LongRunningStep) Check(r *unloop.Run) (unloop.Finding, bool) {
	now := r.Current()
	if now.Latency == nil || *now.Latency <= d.Milliseconds {
		return unloop.Finding{}, false
	}
	what := string(now.Type)
	if now.Step != nil && now.Step.Tool != "" {
		what = now.Step.Tool
	}
	f := finding(r, "long_running_step", now.Ref.ID, 0, "%s took %.1f s, over the %.1f s that a step may take",
		what, *now.Latency/1000, d.Milliseconds/1000)
	f.Severity = unloop.SeverityInfo
	evidence{f.Event}.attach(&f)
	return f, true
}
