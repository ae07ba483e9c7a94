package detect

import "github.com/unloop-ai/unloop"

// RestatedMessages fires when the agents have restated earlier messages since the last novelty. The finding is always Advisory.
type RestatedMessages struct {
	Messages float64 // the least amount, in messages: see unloop.Run.RestatedWeight
}

// Info describes the rule.
func (RestatedMessages) Info() unloop.Info {
	return unloop.Info{Name: "restated_messages", At: unloop.AtMessage, Needs: unloop.NeedTexts | unloop.NeedOutcomes | unloop.NeedEffort}
}

// Check looks at the message that was just sent, if it restates any part of an earlier one.
func (d RestatedMessages) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Current().Text
	if text == nil || text.Overlap == 0 || text.Boilerplate || r.RestatedWeight() < d.Messages {
		return unloop.Finding{}, false
	}
	f := finding(r, "restated_messages", "", 0, "%s repeats what it said before, without a new result in between: %.0f %% of its latest message is from an earlier one",
		speaker(r), 100*text.Overlap)
	f.Score = r.RestatedWeight() / d.Messages
	f.Advisory = true // people who work together restate things, too
	f.Evidence = []unloop.EventRef{text.MostSimilar, f.Event}
	f.First = text.MostSimilar
	return f, true
}
