package policy

import (
	"github.com/unloop-ai/unloop"
)

// GuardReport returns the report of a guard about its decision. The argument by is the kind of guard. The findings are those that the
// decision is based on, and the first of them decided.
func GuardReport(by string, action Action, code, message string, count int, findings []unloop.Finding) unloop.GuardReport {
	r := unloop.GuardReport{By: by}
	if action == Allow {
		return r
	}
	r.Action, r.Code, r.Message, r.Count = action.String(), code, message, count
	if len(findings) > 0 {
		f := &findings[0]
		r.Rule, r.Subject, r.Span = f.Rule, f.Subject, max(0, f.Event.Number-f.First.Number+1)
	}
	return r
}
