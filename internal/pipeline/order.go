// Package pipeline takes the events of many runs through the stages between ingest and decision. What counts is the
// order of a run's events in the run, whatever order they arrive in: their sequence, else their time, else their
// arrival. A run is folded as its events come, as long as they come in order; one that turns out not to is folded
// again from its sorted events, by whoever has them.
package pipeline

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
)

// Placement says where an arriving event belongs.
type Placement uint8

// The placements of an arriving event.
const (
	Next      Placement = iota // behind all that came before
	Duplicate                  // it has come before
	Late                       // before one that has come already
)

// remembered is how many event ids an Order surely remembers.
const remembered = 1024

// Order watches the order of one run's events as they arrive.
type Order struct {
	last       store.Position
	ids, older map[fingerprint.Hash]struct{}
}

// Place says where e belongs. A doubled event is recognised by its id among the last 1,024; one that comes again later than
// that is Late if it has a sequence or a time. Cost: O(1), a few kB a run.
func (o *Order) Place(e *unloop.Event) Placement {
	if o.known(e.ID) {
		return Duplicate
	}
	p := following(o.last, e)
	if p.Compare(o.last) < 0 {
		return Late
	}
	o.last = p
	return Next
}

// following returns e's position, without a tie, when that of the furthest event that arrived before it is known: an event
// without a sequence or a time takes those of that one.
func following(furthest store.Position, e *unloop.Event) store.Position {
	p := store.Position{Sequence: furthest.Sequence, Time: furthest.Time}
	if e.Sequence != 0 {
		p.Sequence = e.Sequence
	}
	if !e.Time.IsZero() {
		p.Time = e.Time.UnixNano()
	}
	return p
}

// known reports whether the id came before, and remembers it.
func (o *Order) known(id string) bool {
	if id == "" {
		return false
	}
	h := fingerprint.String(id)
	_, young := o.ids[h]
	_, old := o.older[h]
	if young || old {
		return true
	}
	if len(o.ids) >= remembered {
		o.ids, o.older = o.older, o.ids
		clear(o.ids)
	}
	if o.ids == nil {
		o.ids = make(map[fingerprint.Hash]struct{})
	}
	o.ids[h] = struct{}{}
	return false
}

// Sort puts the events of one run, given in the order of their arrival, into the run's order, each id once.
func Sort(events []*unloop.Event) []*unloop.Event {
	type placed struct {
		at    store.Position
		event *unloop.Event
	}
	var furthest store.Position
	ids := make(map[string]struct{}, len(events))
	all := make([]placed, 0, len(events))
	for _, e := range events {
		if _, ok := ids[e.ID]; ok && e.ID != "" {
			continue
		}
		ids[e.ID] = struct{}{}
		at := following(furthest, e)
		if at.Compare(furthest) > 0 {
			furthest = at
		}
		all = append(all, placed{at, e})
	}
	slices.SortStableFunc(all, func(a, b placed) int { return a.at.Compare(b.at) })
	sorted := make([]*unloop.Event, len(all))
	for i, p := range all {
		sorted[i] = p.event
	}
	return sorted
}
