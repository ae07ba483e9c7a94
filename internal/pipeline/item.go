package pipeline

import (
	"cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// item is an event to be recorded.
type item struct {
	event    *unloop.Event
	body     []byte
	analysis []byte // from the fold; nil while it is not folded
	placement
	change  bool          // from a trace: it replaces the stored event, if there is one
	earlier trace.Earlier // of a change
	result  *Result       // nil for a change
	check   bool          // the store may already have it
	dropped bool          // it is not to be recorded
}

// place finds the position of an event in the run, without its tie.
func (t *runChange) place(it *item) {
	id := it.event.ID
	if old := t.byID[id]; old != nil && !old.dropped {
		if !it.change {
			it.result.Duplicate = true
			return
		}
		old.dropped = true
		if old.earlier == trace.Absent && !t.replaced[id] {
			it.earlier = trace.Absent
		}
	}
	it.at = following(t.furthest, it.event)
	if it.change {
		it.at.Tie = trace.Tie(it.event)
		if it.check = it.earlier != trace.Absent || t.checked || t.checksNew; it.check {
			t.replace(id, it.earlier)
		}
	} else {
		known := t.checked || compareTimes(it.at, t.run.furthest()) <= 0
		it.check = known || it.event.Sequence == 0 && it.event.Time.IsZero()
	}
	if compareTimes(it.at, t.furthest) > 0 {
		t.furthest = it.at
	}
	t.items = append(t.items, it)
	t.byID[id] = it
}

// compareTimes compares positions without their ties.
func compareTimes(p, q store.Position) int {
	return cmp.Or(cmp.Compare(p.Sequence, q.Sequence), cmp.Compare(p.Time, q.Time))
}
