package detect

import "github.com/unloop-ai/unloop"

// RepeatedMessage fires when an agent sent nearly the same message at least Times times within its last six, and no step
// told anything new since the first of them.
type RepeatedMessage struct {
	Times int
}

// Info describes the rule.
func (RepeatedMessage) Info() unloop.Info {
	return unloop.Info{Name: "repeated_message", At: unloop.AtMessage, Facts: unloop.FactTexts | unloop.FactOutcomes}
}

// Check looks at the message that was just sent.
func (d RepeatedMessage) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Now().Text
	if text == nil || text.Alike < d.Times || r.LastNews().Number > text.First.Number {
		return unloop.Finding{}, false
	}
	agent := r.Now().Agent
	if agent == "" {
		agent = "the agent"
	}
	f := finding(r, "repeated_message", r.Now().Agent, text.Alike, "%s said nearly the same %d times within its last messages", agent, text.Alike)
	f.Score = float64(text.Alike) / float64(d.Times)
	f.Evidence = []unloop.EventRef{text.First, f.Event}
	f.First = text.First
	return f, true
}
