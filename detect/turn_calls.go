package detect

import "github.com/unloop-ai/unloop"

// TurnCalls fires when a tool of the class was called at least Times times in the turn. It is the rule idempotent_calls for
// tools that only read, and mutating_calls for others. Unless Strict, a finding about a tool whose results still change
// scores less than 1.
type TurnCalls struct {
	Class  unloop.Effect
	Times  int
	Strict bool
}

// Info describes the rule.
func (d TurnCalls) Info() unloop.Info {
	info := unloop.Info{Name: "mutating_calls", At: unloop.AtStart | unloop.AtEnd, Needs: unloop.NeedResults | unloop.NeedExcerpts}
	if d.Class == unloop.ReadOnly {
		info.Name = "idempotent_calls"
	}
	return info
}

// Check counts the calls of the tool at hand, a pending one included.
func (d TurnCalls) Check(r *unloop.Run) (unloop.Finding, bool) {
	step := r.Current().Step
	if step == nil || step.Tool == "" || step.Outcome == unloop.Blocked {
		return unloop.Finding{}, false
	}
	t := r.Tool(step.Tool)
	n := r.TurnCalls(t)
	if t.Effect != d.Class || n < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, d.Info().Name, step.Tool, n, "%s was called %d times in this turn", step.Tool, n)
	f.Score = 1
	if !d.Strict && t.Unchanged.Count < 2 {
		f.Score = 0.5
	}
	callsThat(r, recent, func(s *unloop.Step) bool { return s.Tool == step.Tool }).latest(n).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
