package pipeline

import (
	"slices"

	"github.com/unloop-ai/unloop/internal/trace"
)

// remove removes an event from the run, which may be one of this commit.
func (t *runChange) remove(id string, earlier trace.Earlier) {
	if it := t.byID[id]; it != nil {
		it.dropped = true
		earlier = it.earlier
	}
	t.replace(id, earlier)
}

// replace notes that the stored event with an id is deleted, if the store has one.
func (t *runChange) replace(id string, earlier trace.Earlier) {
	if !t.replaced[id] {
		t.replaced[id], t.uncertain = true, t.uncertain || earlier != trace.Present
	}
}

// reads reports whether the commit reads stored events of the run: those that may be duplicates or are replaced, and those after a late one.
func (t *runChange) reads(p *Pipeline) bool {
	if t.kept != nil {
		return false
	}
	if !t.current {
		return true
	}
	all := len(t.replaced) > 0 && t.replacesAll(p)
	if len(t.replaced) > 0 && !all {
		return true
	}
	furthest := t.run.furthest()
	return slices.ContainsFunc(t.items, func(it *item) bool {
		if it.change {
			return !all && it.at.Compare(furthest) <= 0
		}
		return it.check
	})
}

// replacesAll reports whether the commit deletes or replaces all stored events of the run.
func (t *runChange) replacesAll(p *Pipeline) bool {
	return !t.uncertain && t.storesOnly(p, len(t.replaced))
}

// storesOnly reports whether n is the number of the run's stored events. It can tell only if there is no checkpoint, since the fold does
// not count the events that could not be read.
func (t *runChange) storesOnly(p *Pipeline, n int) bool {
	return t.current && len(t.checkpoints) == 0 && t.fold.s.Events == n && p.unreadable.count() == 0
}
