package detect

import "github.com/unloop-ai/unloop"

// StalledTalk fires when the assistant repeats its earlier messages in its answers to a person. The finding is always Advisory.
type StalledTalk struct {
	Messages float64 // the least value of Meter.Talk
}

// Info describes the rule.
func (StalledTalk) Info() unloop.Info {
	return unloop.Info{Name: "stalled_talk", At: unloop.AtMessage, Needs: unloop.NeedEffort | unloop.NeedOutcomes}
}

// Check looks at the message that was just sent.
func (d StalledTalk) Check(r *unloop.Run) (unloop.Finding, bool) {
	m := r.Meter()
	if r.Current().Role != unloop.RoleAssistant || m.Talk < d.Messages {
		return unloop.Finding{}, false
	}
	f := finding(r, "stalled_talk", "", 0, "%s repeats its earlier answers to a person and adds nothing new", speaker(r))
	f.Score = m.Talk / d.Messages
	f.Advisory = true // a person may ask the same again
	f.Evidence = []unloop.EventRef{m.Talked, f.Event}
	f.First = m.Talked
	return f, true
}
