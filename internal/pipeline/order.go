package pipeline

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/fingerprint"
	"github.com/unloop-ai/unloop/internal/store"
)

// Placement is the place of an arriving event among the earlier ones.
type Placement uint8

// The placements of an arriving event.
const (
	Next      Placement = iota // after all earlier events
	Duplicate                  // it arrived before
	Late                       // before an event that has already arrived
)

// remembered is the number of event ids that an Order is guaranteed to remember.
const remembered = 1024

// Order tracks the order of the events of one run as they arrive.
type Order struct {
	last       store.Position
	ids, older map[fingerprint.Hash]struct{}
}

// Place returns the placement of e. It recognises a duplicate by its id among the last 1,024 events. A duplicate of an older
// event is Late if it has a sequence or a time. Place takes O(1), and an Order a few kB.
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

// following returns the position of e, without a tie. An event without a sequence or a time takes them from the furthest event
// before it, whose position is furthest.
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

// known reports whether the id was seen before, and remembers it.
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

// Sort sorts the events of one run, which are in the order of arrival, into the order of the run. It keeps each id once.
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
