package detect

import "github.com/unloop-ai/unloop"

// GenericRepeat fires when the latest calls contain one call several times, with the same arguments. It ignores polling tools,
// which PollNoProgress covers.
type GenericRepeat struct {
	Window int // the latest calls that count, at most 32
	Times  int // equal calls among them
}

// Info describes the rule.
func (GenericRepeat) Info() unloop.Info {
	return unloop.Info{Name: "generic_repeat", At: unloop.AtStart, Needs: unloop.NeedExcerpts}
}

// Check counts the call that has just started among the last Window calls, which is its cost.
func (d GenericRepeat) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok || step.Effect == unloop.Polling {
		return unloop.Finding{}, false
	}
	n := 0
	for k := range d.Window {
		if s := r.StepAt(k); s != nil && s.ArgsHash == step.ArgsHash {
			n++
		}
	}
	if n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "generic_repeat", step.Tool, n, "%s came %d times within the last %d calls with the same arguments", step.Tool, n, d.Window)
	callsThat(r, d.Window, func(s *unloop.Step) bool { return s.ArgsHash == step.ArgsHash }).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
