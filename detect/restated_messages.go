package detect

import "github.com/unloop-ai/unloop"

// RestatedMessages fires when the agents, since the last news, said again what they had said before to the amount of
// at least Messages messages: see unloop.Run.Restating.
type RestatedMessages struct {
	Messages float64
}

// Info describes the rule.
func (RestatedMessages) Info() unloop.Info {
	return unloop.Info{Name: "restated_messages", At: unloop.AtMessage, Facts: unloop.FactTexts | unloop.FactOutcomes}
}

// Check looks at the message that was just sent, unless nothing of it was said before.
func (d RestatedMessages) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Now().Text
	if text == nil || text.Share == 0 || text.Canned || r.Restating() < d.Messages {
		return unloop.Finding{}, false
	}
	f := finding(r, "restated_messages", "", 0, "%s says again what it said before: %.0f %% of its latest message, and since the last news as much as %.1f messages hold",
		speaker(r), 100*text.Share, r.Restating())
	f.Score = r.Restating() / d.Messages
	f.Weak = true // people who work together say things again, too
	f.Evidence = []unloop.EventRef{text.Like, f.Event}
	f.First = text.Like
	return f, true
}
