package detect

import "github.com/unloop-ai/unloop"

// IdleHandoffs fires when two agents handed over to each other in a row and nothing new was told in between: at least Times
// times if they made steps or repeated messages, at least Bare times if little is known of what they did. If they said other
// things, too, or if little is known, it is weak.
type IdleHandoffs struct {
	Times int
	Bare  int // at most 6, which is how many handoffs a run remembers
}

// fewWords is how many words agents may say from one handoff to the next without telling much.
const fewWords = 25

// Info describes the rule.
func (IdleHandoffs) Info() unloop.Info {
	return unloop.Info{Name: "idle_handoffs", At: unloop.AtHandoff, Needs: unloop.NeedOutcomes | unloop.NeedTexts}
}

// Check looks at the agents that received control last.
func (d IdleHandoffs) Check(r *unloop.Run) (unloop.Finding, bool) {
	f, ok := HandoffBounce{Times: d.Times}.Check(r)
	if !ok || r.LastNovelty().Number > f.First.Number {
		return unloop.Finding{}, false
	}
	words, again, outcomes := r.SinceHandoffs()
	known := outcomes > 0 || r.RestatedInARow() >= d.Times
	bare := f.Count >= d.Bare && words <= fewWords*(f.Count-1)
	if !known && !bare && again < d.Times-1 {
		return unloop.Finding{}, false
	}
	page := ruleDocs["idle_handoffs"]
	f.Rule, f.Why, f.Try = page.Rule, page.Why, page.Try
	f.What += ", and nothing new was told in between"
	if !known {
		f.What += " as far as is known"
	}
	f.Advisory = !known
	f.Score = float64(f.Count) / float64(d.Times)
	return f, true
}
