package detect

import "github.com/unloop-ai/unloop"

// TurnCalls fires when a tool with a given effect has been called often in the turn. The rule is idempotent_calls for ReadOnly
// and mutating_calls for other effects.
type TurnCalls struct {
	Effect unloop.Effect // the effect of the tools that count
	Times  int           // calls of a tool in the turn
	Strict bool          // the score is 1 even while the results of the tool change; otherwise it is then 0.5
}

// Info describes the rule.
func (d TurnCalls) Info() unloop.Info {
	info := unloop.Info{Name: "mutating_calls", At: unloop.AtStart | unloop.AtEnd, Needs: unloop.NeedResults | unloop.NeedExcerpts}
	if d.Effect == unloop.ReadOnly {
		info.Name = "idempotent_calls"
	}
	return info
}

// Check looks at the number of calls of the current tool, a pending one included.
func (d TurnCalls) Check(r *unloop.Run) (unloop.Finding, bool) {
	step := r.Current().Step
	if step == nil || step.Tool == "" || step.Outcome == unloop.Blocked {
		return unloop.Finding{}, false
	}
	t := r.Tool(step.Tool)
	n := r.TurnCalls(t)
	if t.Effect != d.Effect || n < d.Times {
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
