package detect

import "github.com/unloop-ai/unloop"

// FailureCascade fires when consecutive shell calls failed.
type FailureCascade struct {
	Times int // shell calls in a row
}

// Info describes the rule.
func (FailureCascade) Info() unloop.Info {
	return unloop.Info{Name: "failure_cascade", At: unloop.AtEnd, Needs: unloop.NeedShell | unloop.NeedExcerpts}
}

// Check looks at the shell call that has just failed.
func (d FailureCascade) Check(r *unloop.Run) (unloop.Finding, bool) {
	return shellRow(r, &r.Shell().Failures, d.Times, "failure_cascade", "%d shell calls in a row failed")
}
