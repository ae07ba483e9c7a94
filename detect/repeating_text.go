package detect

import "github.com/unloop-ai/unloop"

// RepeatingText fires when a message ends with a passage that repeats without a gap.
type RepeatingText struct {
	Times int // repetitions of the passage
	Bytes int // the least length of all repetitions together, in bytes
}

// Info describes the rule.
func (RepeatingText) Info() unloop.Info {
	return unloop.Info{Name: "repeating_text", At: unloop.AtMessage, Needs: unloop.NeedTexts}
}

// Check looks at the message that was just sent.
func (d RepeatingText) Check(r *unloop.Run) (unloop.Finding, bool) {
	text := r.Current().Text
	if text == nil || text.Times < d.Times || text.Times*text.Period < d.Bytes {
		return unloop.Finding{}, false
	}
	f := finding(r, "repeating_text", r.Current().Agent, text.Times, "a message ends with the same passage of %d bytes, %d times in a row", text.Period, text.Times)
	f.Score = float64(text.Times) / float64(d.Times)
	evidence{f.Event}.attach(&f)
	return f, true
}
