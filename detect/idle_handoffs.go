package detect

import (
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// IdleHandoffs fires when two agents hand over to each other repeatedly, or three agents twice in a ring, without novelty in between. The
// finding is Advisory unless steps, or consecutive messages that repeat earlier ones, show that the agents are idle.
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
	if !ok {
		f, ok = d.ring(r)
	}
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

// ring returns a finding if all kept handoffs pass control around three agents, and each of them has received it at least twice.
func (d IdleHandoffs) ring(r *unloop.Run) (unloop.Finding, bool) {
	agents, refs := r.Handoffs()
	n := len(agents)
	if r.Current().Type != unloop.HandoffStarted || n < 6 || agents[0] == agents[1] || agents[1] == agents[2] || agents[0] == agents[2] {
		return unloop.Finding{}, false
	}
	for k := 3; k < n; k++ {
		if agents[k] != agents[k-3] {
			return unloop.Finding{}, false
		}
	}
	names := slices.Sorted(slices.Values(agents[:3]))
	f := finding(r, "idle_handoffs", strings.Join(names, "|"), n, "%s, %s and %s handed over in a ring %d times in a row", names[0], names[1], names[2], n)
	var e evidence
	for k := n - 1; k >= 0; k-- {
		e.add(refs[k])
	}
	e.attach(&f)
	return f, true
}
