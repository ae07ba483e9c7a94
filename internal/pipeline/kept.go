package pipeline

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// Bounds of the events that are kept in memory for refolds.
const (
	keptEvents = 1024    // of a run
	keptBytes  = 1 << 20 // of a run
	keptShare  = 8       // those of all runs have at most this part of the memory for runs
)

// kept is all recorded events of a run that has no checkpoint, with their analyses. A run gets them with its first refold, which reads
// them from the store. The next late events cause no reading, and no wait for the writer.
type kept struct {
	events []keptEvent // in order
	bytes  int
}

// keptEvent is a recorded event.
type keptEvent struct {
	event *unloop.Event // immutable
	id    string        // as the store has it
	placement
	analysis []byte
	item     *item // that records it with the commit in progress
}

// size returns the approximate memory in bytes.
func (e *keptEvent) size() int {
	raw := len(e.event.Input) + len(e.event.Output) + len(e.event.Error) + len(e.event.Text) + len(e.event.Metadata)
	return raw + len(e.analysis) + eventOverhead
}

// append adds an event after all others.
func (k *kept) append(e keptEvent) {
	k.events = append(k.events, e)
	k.bytes += e.size()
}

// full reports whether a run may not keep as much.
func (k *kept) full() bool { return len(k.events) > keptEvents || k.bytes > keptBytes }

// cost is the cost of folding the events, as in runChange.cost.
func (k *kept) cost() int { return len(k.events) + k.bytes/unit }

// known returns the given ids that are ids of events, with their positions.
func (k *kept) known(ids []string) map[string]store.Position {
	at := make(map[string]store.Position)
	if len(ids) == 0 {
		return at
	}
	wanted := make(map[string][]string, len(ids))
	for _, id := range ids {
		wanted[store.Key(id)] = append(wanted[store.Key(id)], id)
	}
	for i := range k.events {
		for _, id := range wanted[k.events[i].id] {
			at[id] = k.events[i].at
		}
	}
	return at
}

// change removes the events with the given ids, and adds those of the items.
func (k *kept) change(removed []string, items []*item) {
	if len(removed) > 0 {
		ids := make(map[string]bool, len(removed))
		for _, id := range removed {
			ids[store.Key(id)] = true
		}
		k.events = slices.DeleteFunc(k.events, func(e keptEvent) bool {
			if ids[e.id] {
				k.bytes -= e.size()
			}
			return ids[e.id]
		})
	}
	before := len(k.events)
	for _, it := range items {
		k.append(keptEvent{event: it.event, id: store.Key(it.event.ID), placement: it.placement, item: it})
	}
	if before > 0 && len(items) > 0 && items[0].at.Compare(k.events[before-1].at) < 0 {
		slices.SortFunc(k.events, func(a, b keptEvent) int {
			return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.arrival, b.arrival))
		})
	}
}

// settle takes the analyses of the items of the commit in progress.
func (k *kept) settle() {
	for i := range k.events {
		if e := &k.events[i]; e.item != nil {
			e.analysis, e.item = e.item.analysis, nil
			k.bytes += len(e.analysis)
		}
	}
}

// keep begins to keep the events of a run that is folded from its beginning.
func (t *runChange) keep(p *Pipeline) {
	t.kept = nil
	if t.fold.s.Furthest == store.Start && p.mayKeep() {
		t.kept = new(kept)
	}
}

// mayKeep reports whether there is room for the events of another run. Events whose content is not stored whole are remembered in
// another way.
func (p *Pipeline) mayKeep() bool {
	return p.opts.Content == FullContent && p.keptBytes <= p.opts.RunBytes/keptShare
}

// keepStored keeps an event of the store, which is folded; nil for one that cannot be read.
func (t *runChange) keepStored(event *unloop.Event, e *store.Event, analysis []byte) {
	switch {
	case t.kept == nil:
	case event == nil:
		t.kept = nil // not all events of the run would be kept
	default:
		t.kept.append(keptEvent{event: event, id: e.ID, placement: placementOf(e), analysis: analysis})
		t.dropKept()
	}
}

// dropKept drops the kept events if they are too many, or if the run has a checkpoint, which says that it is long.
func (t *runChange) dropKept() {
	if t.kept != nil && (t.kept.full() || len(t.checkpoints) > 0) {
		t.kept = nil
	}
}

// foldKept folds the kept events from the beginning.
func (t *runChange) foldKept(p *Pipeline) {
	for i := range t.kept.events {
		e := &t.kept.events[i]
		_, analysis := t.add(p, e.event, e.placement)
		switch {
		case e.item != nil:
			e.item.analysis = analysis
		case !bytes.Equal(analysis, e.analysis):
			t.note(&store.Event{Arrival: e.arrival, Run: t.row.Number, ID: e.id}, analysis)
			t.kept.bytes += len(analysis) - len(e.analysis)
			e.analysis = analysis
		}
	}
}

// forgetKept drops the kept events of the runs that have been idle longest, if all runs keep too much.
func (p *Pipeline) forgetKept() {
	most := p.opts.RunBytes / keptShare
	if p.keptBytes <= most {
		return
	}
	for at := p.used.Back(); at != nil && p.keptBytes > most-most/8; at = at.Prev() {
		if r := at.Value.(*run); r.kept != nil {
			r.kept = nil
			p.weigh(r)
		}
	}
}
