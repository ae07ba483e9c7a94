package detect

import "github.com/unloop-ai/unloop"

// RepeatedMessage fires when an agent sent nearly the same message at least Times times within its last six, and no step
// told anything new since the first of them.
type RepeatedMessage struct {
	Times int
}

// Info describes the rule.
func (RepeatedMessage) Info() unloop.Info {
	return unloop.Info{Name: "repeated_message", At: unloop.AtMessage, Needs: unloop.NeedTexts | unloop.NeedOutcomes}
}

// Check looks at the message that was just sent.
func (d RepeatedMessage) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Current().Text
	if text == nil || text.Similar < d.Times || text.Boilerplate || max(r.LastNovelty().Number, r.LastUnobserved().Number) > text.First.Number {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_message", r.Current().Agent, text.Similar, "%s said nearly the same %d times within its last messages", speaker(r), text.Similar)
	f.Score = float64(text.Similar) / float64(d.Times)
	// Between messages that are new it may be a turn of phrase, and a long text is sent again with its corrections.
	f.Advisory = text.NovelSince > 0 || changedRuns(text) > slips
	f.Evidence = []unloop.EventRef{text.First, f.Event}
	f.First = text.First
	return f, true
}

// speaker names the agent of the message at hand.
func speaker(r *unloop.Run) string {
	if agent := r.Current().Agent; agent != "" {
		return agent
	}
	return "the agent"
}

// slips is how many runs of three words may differ between two messages that say the same: those around two or three words.
const slips = 8

// changedRuns estimates how many of a message's runs of three words are not in the message that is most like it.
func changedRuns(text *unloop.Text) float64 {
	return float64(text.Words) * (1 - text.TrigramOverlap) / (1 + text.TrigramOverlap)
}
