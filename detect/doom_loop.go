package detect

import "github.com/unloop-ai/unloop"

// DoomLoop fires when consecutive calls have the same arguments or the same target. The finding's Count is the length of the
// longer streak, at most Window.
type DoomLoop struct {
	Window int // the latest calls that count
	Exact  int // consecutive calls with the same arguments
	Fuzzy  int // consecutive calls with the same target
}

// Info describes the rule.
func (DoomLoop) Info() unloop.Info {
	return unloop.Info{Name: "doom_loop", At: unloop.AtStart, Needs: unloop.NeedExcerpts}
}

// Check looks at the streaks that end with the call that has just started.
func (d DoomLoop) Check(r *unloop.Run) (unloop.Finding, bool) {
	step, ok := currentStart(r)
	if !ok {
		return unloop.Finding{}, false
	}
	exact := min(r.CallPeriods().Rounds(1), d.Window)
	fuzzy := min(r.TargetStreak().Count, d.Window)
	if exact < d.Exact && fuzzy < d.Fuzzy {
		return unloop.Finding{}, false
	}
	n := exact
	if fuzzy >= d.Fuzzy {
		n = max(exact, fuzzy)
	}
	how := "the same arguments"
	if exact < n {
		how = "the same target"
	}
	f := finding(r, "doom_loop", step.Tool, n, "%s was called %d times in a row with %s", step.Tool, n, how)
	callsThat(r, n, func(s *unloop.Step) bool { return s.TargetHash == step.TargetHash }).attach(&f)
	addNudgeContext(r, &f, 1)
	return f, true
}
