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

// glance takes from the event that was folded last what a list of runs shows of each at a glance.
func (f *fold) glance(e *unloop.Event) {
	s := &f.s
	if e.Latency != nil && *e.Latency > s.Longest {
		s.Longest, s.Slowest = *e.Latency, e.ID
	}
	switch e.Type {
	case unloop.ToolCallCompleted, unloop.ToolCallFailed:
		if step := f.watch.Run().Now().Step; step != nil && step.Stable != 0 { // else nobody knows what it brought
			s.News.add(step.News)
		}
	}
	ended := e.Type == unloop.RunFailed || e.Type == unloop.RunCompleted
	lost := s.Course[len(s.Course)-1].Score == 0 && len(s.Raised) > manyWarnings
	if ended || len(f.watch.Grown()) > 0 && !lost {
		f.course()
	}
}

// course notes the health, if it is another than before. What changes behind the last point that there is room for moves that.
func (f *fold) course() {
	s := &f.s
	last := len(s.Course) - 1
	now := store.HealthAt{Number: s.Events - 1, Score: f.watch.Health().Score}
	if now.Score == s.Course[last].Score {
		return
	}
	room := min(last+1, store.MaxHealth-1)
	s.Course = append(s.Course[:room:room], now) // a new array, for the old one is shared
}

// busiest returns the tools that were called most, those first.
func (f *fold) busiest() (tools []store.ToolCalls) {
	for _, name := range f.s.Tools {
		if t := f.watch.Run().Tool(name); t != nil {
			tools = append(tools, store.ToolCalls{Name: store.Key(name), Calls: t.Calls})
		}
	}
	slices.SortStableFunc(tools, func(a, b store.ToolCalls) int { return cmp.Compare(b.Calls, a.Calls) })
	return slices.Clip(tools[:min(len(tools), store.MaxBusiest)])
}

// news counts the steps of a run, and those that told something new, in stretches of equal length. When there is no room for
// another stretch, two become one.
type news struct {
	Steps int
	Long  int   // how many steps a stretch has; the last may have less
	Fresh []int // of each stretch
}

func (n *news) add(fresh bool) {
	if n.Steps == n.Long*store.MaxNews {
		n.join()
	}
	at := n.Steps / n.Long
	if at == len(n.Fresh) {
		n.Fresh = append(n.Fresh, 0)
	}
	if fresh {
		n.Fresh[at]++
	}
	n.Steps++
}

// join makes stretches twice as long.
func (n *news) join() {
	n.Long = max(2*n.Long, 1)
	for k := range len(n.Fresh) / 2 {
		n.Fresh[k] = n.Fresh[2*k] + n.Fresh[2*k+1]
	}
	n.Fresh = n.Fresh[:len(n.Fresh)/2]
}

// shares returns for each stretch which part of its steps told something new.
func (n *news) shares() (shares []float64) {
	for k, fresh := range n.Fresh {
		shares = append(shares, round(float64(fresh)/float64(min(n.Long, n.Steps-k*n.Long)), 2))
	}
	return shares
}
