package detect

import "github.com/unloop-ai/unloop"

// SummaryLoop fires when assistants have sent several messages without a tool call in between.
type SummaryLoop struct {
	Times int // messages since the latest call
}

// Info describes the rule.
func (SummaryLoop) Info() unloop.Info { return unloop.Info{Name: "summary_loop", At: unloop.AtMessage} }

// Check looks at the message that was just sent.
func (d SummaryLoop) Check(r *unloop.Run) (unloop.Finding, bool) {
	if r.Current().Role != unloop.RoleAssistant || r.MessagesSinceCall() < d.Times {
		return unloop.Finding{}, false
	}
	f := finding(r, "summary_loop", r.Current().Agent, r.MessagesSinceCall(), "%d messages in a row came without a tool call", r.MessagesSinceCall())
	evidence{f.Event}.attach(&f)
	return f, true
}
