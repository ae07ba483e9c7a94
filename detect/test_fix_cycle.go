package detect

import "github.com/unloop-ai/unloop"

// TestFixCycle fires when consecutive test runs failed.
type TestFixCycle struct {
	Times int // test runs in a row
}

// Info describes the rule.
func (TestFixCycle) Info() unloop.Info {
	return unloop.Info{Name: "test_fix_cycle", At: unloop.AtEnd, Needs: unloop.NeedShell | unloop.NeedExcerpts}
}

// Check looks at the test run that has just failed.
func (d TestFixCycle) Check(r *unloop.Run) (unloop.Finding, bool) {
	return shellRow(r, &r.Shell().Tests, d.Times, "test_fix_cycle", "%d test runs in a row failed")
}

// shellRow returns a finding for a streak of failed shell calls, if the current call belongs to it.
func shellRow(r *unloop.Run, row *unloop.Streak, times int, rule, what string) (unloop.Finding, bool) {
	step := r.Current().Step
	if step == nil || row.Count < times || row.Latest != step.End {
		return unloop.Finding{}, false
	}
	f := finding(r, rule, step.Tool, row.Count, what, row.Count)
	f.First = row.First
	f.Evidence = []unloop.EventRef{row.First, step.End}
	addNudgeContext(r, &f, 1)
	return f, true
}
