package detect

import "github.com/unloop-ai/unloop"

// UnchangedResult fires when a tool returned the same result, byte by byte, several times in a row within the turn: see
// unloop.Turn.Row.
type UnchangedResult struct {
	Times int // results in a row
}

// Info describes the rule.
func (UnchangedResult) Info() unloop.Info {
	return unloop.Info{Name: "unchanged_result", At: unloop.AtStart | unloop.AtEnd, Needs: unloop.NeedResults | unloop.NeedExcerpts}
}

// Check looks at the streak of results before the current call, or with it if the call has ended.
func (d UnchangedResult) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, turn := r.Current().Step, r.Turn()
	if step == nil || step.Outcome == unloop.Blocked || turn.Tool != step.Tool || turn.Row.Count < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "unchanged_result", step.Tool, turn.Row.Count, "%s returned the same %d times in a row", step.Tool, turn.Row.Count)
	stepsThat(r, recent, func(s *unloop.Step) bool { return s.ResultHash == turn.Row.Of }).latest(turn.Row.Count).attach(&f)
	f.First = turn.Row.First
	addNudgeContext(r, &f, 1)
	return f, true
}
