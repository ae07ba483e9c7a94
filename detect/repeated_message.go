package detect

import "github.com/unloop-ai/unloop"

// RepeatedMessage fires when an agent has sent nearly equal messages among its last six, without novelty since the first of them, and without
// a handoff since then to a new agent that still has control: see unloop.Run.Introduced. Nearly equal means a resemblance of at least 0.8 of
// word trigrams, as in unloop.Text.
type RepeatedMessage struct {
	Times int // nearly equal messages, at most 7
}

// Info describes the rule.
func (RepeatedMessage) Info() unloop.Info {
	return unloop.Info{Name: "repeated_message", At: unloop.AtMessage, Needs: unloop.NeedTexts | unloop.NeedOutcomes | unloop.NeedEffort}
}

// Check looks at the message that was just sent.
func (d RepeatedMessage) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Current().Text
	if text == nil || text.Similar < d.Times || text.Boilerplate || max(r.LastNovelty().Number, r.LastUnobserved().Number, r.Introduced(), r.Advanced()) > text.First.Number {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeated_message", r.Current().Agent, text.Similar, "%s sent nearly the same message %d times, among its last 7", speaker(r), text.Similar)
	f.Score = float64(text.Similar) / float64(d.Times)
	// Between new messages it may be a standing phrase, and a long text may be sent again with corrections. A message may report the state of
	// an item after each call.
	latest := r.StepAt(0)
	f.Advisory = text.NovelSince > 0 || changedRuns(text) > slips ||
		latest != nil && latest.Effort.About
	f.Evidence = []unloop.EventRef{text.First, f.Event}
	f.First = text.First
	return f, true
}

// speaker returns the agent of the current message.
func speaker(r *unloop.Run) string {
	if agent := r.Current().Agent; agent != "" {
		return agent
	}
	return "The agent"
}

// slips is how many word trigrams may differ between two messages that say the same: those around two or three words.
const slips = 8

// changedRuns estimates how many word trigrams of a message do not occur in the most similar message.
func changedRuns(text *unloop.Text) float64 {
	return float64(text.Words) * (1 - text.TrigramOverlap) / (1 + text.TrigramOverlap)
}
