package pipeline

import (
	"cmp"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// manyWarnings is from how many warnings on a run that is at 0 is taken to stay there until it ends, since each event at which one
// grows would have all of them weighed again.
const manyWarnings = 16

// preview takes from the event that was folded last what a list of runs shows of each at a glance.
func (f *fold) preview(e *unloop.Event) {
	s := &f.s
	if e.Latency != nil && *e.Latency > s.MaxLatency {
		s.MaxLatency, s.SlowestEvent = *e.Latency, e.ID
	}
	switch e.Type {
	case unloop.ToolCallCompleted, unloop.ToolCallFailed:
		if step := f.session.Run().Current().Step; step != nil && step.NormalizedResult != 0 { // else nobody knows what it brought
			s.Novelty.add(step.Novel)
		}
	}
	ended := e.Type == unloop.RunFailed || e.Type == unloop.RunCompleted
	lost := s.Health[len(s.Health)-1].Score == 0 && len(s.Warnings) > manyWarnings
	if ended || len(f.session.Grown()) > 0 && !lost {
		f.addHealth()
	}
}

// addHealth notes the health, if it is another than before. What changes behind the last point that there is room for moves that.
func (f *fold) addHealth() {
	s := &f.s
	last := len(s.Health) - 1
	now := store.HealthAt{Number: s.Events - 1, Score: f.session.Health().Score}
	if now.Score == s.Health[last].Score {
		return
	}
	room := min(last+1, store.MaxHealth-1)
	s.Health = append(s.Health[:room:room], now) // a new array, for the old one is shared
}

// busiest returns the tools that were called most, those first.
func (f *fold) busiest() (tools []store.ToolCalls) {
	for _, name := range f.s.Tools {
		if t := f.session.Run().Tool(name); t != nil {
			tools = append(tools, store.ToolCalls{Name: store.Key(name), Calls: t.Calls})
		}
	}
	slices.SortStableFunc(tools, func(a, b store.ToolCalls) int { return cmp.Compare(b.Calls, a.Calls) })
	return slices.Clip(tools[:min(len(tools), store.MaxBusiest)])
}

// novelty counts the steps of a run, and those that told something new, in stretches of equal length. When there is no room for
// another stretch, two become one.
type novelty struct {
	Steps        int
	StretchSteps int   // how many steps a stretch has; the last may have less
	NovelSteps   []int // of each stretch
}

func (n *novelty) add(fresh bool) {
	if n.Steps == n.StretchSteps*store.MaxNovelty {
		n.mergeStretches()
	}
	at := n.Steps / n.StretchSteps
	if at == len(n.NovelSteps) {
		n.NovelSteps = append(n.NovelSteps, 0)
	}
	if fresh {
		n.NovelSteps[at]++
	}
	n.Steps++
}

// mergeStretches makes stretches twice as long.
func (n *novelty) mergeStretches() {
	n.StretchSteps = max(2*n.StretchSteps, 1)
	for k := range len(n.NovelSteps) / 2 {
		n.NovelSteps[k] = n.NovelSteps[2*k] + n.NovelSteps[2*k+1]
	}
	n.NovelSteps = n.NovelSteps[:len(n.NovelSteps)/2]
}

// fractions returns for each stretch which part of its steps told something new.
func (n *novelty) fractions() (shares []float64) {
	for k, fresh := range n.NovelSteps {
		shares = append(shares, store.Round(float64(fresh)/float64(min(n.StretchSteps, n.Steps-k*n.StretchSteps)), 2))
	}
	return shares
}
