package detect

import "github.com/unloop-ai/unloop"

// IdleHandoffs fires when two agents hand over to each other repeatedly, without novelty in between. The finding is Advisory
// unless steps, or consecutive messages that repeat earlier ones, show that the agents are idle.
type IdleHandoffs struct {
	Times int // handoffs if steps or repeated messages are known
	Bare  int // handoffs if the agents sent few words and nothing else is known; at most 6, which a run keeps
}

// fewWords is the number of words per handoff up to which messages count as few.
const fewWords = 25

// Info describes the rule.
func (IdleHandoffs) Info() unloop.Info {
	return unloop.Info{Name: "idle_handoffs", At: unloop.AtHandoff, Needs: unloop.NeedOutcomes | unloop.NeedTexts}
}

// Check looks at the latest handoffs and at the activity since the first of them.
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
	doc := ruleDocs()["idle_handoffs"]
	f.Rule, f.Why, f.Try = doc.Rule, doc.Why, doc.Try
	f.What += ", with nothing new in between"
	if !known {
		f.What += " as far as is known"
	}
	f.Advisory = !known
	f.Score = float64(f.Count) / float64(d.Times)
	return f, true
}
