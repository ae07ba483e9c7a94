package pipeline

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// runChange is a run within one commit.
type runChange struct {
	*run
	furthest   store.Position // of the folded and placed events
	items      []*item        // events to record, in the order of arrival
	byID       map[string]*item
	replaced   map[string]bool // ids to delete from the store, if it has them
	uncertain  bool            // the store may not have one of these ids
	removed    []string        // those that the store had
	rowChanged bool            // the row changed apart from events
	informed   bool            // a sender reported about the run itself
	ended      bool            // a sender reported that the run is over
	marked     bool            // the mark of the row changed, so the row is written with this commit
	deleted    bool
	emptied    bool // deleted because its events moved to other runs
	checked    bool // each event is looked for in the store
	checksNew  bool // likewise each new event of a trace

	before  []store.Warning // the warnings that the sinks know
	arrival int64           // of the row before the commit
	updated time.Time       // likewise
	from    store.Position  // the first position at which the run changes; end for none
	how     folding         // of the new events

	built   bool          // build was called
	update  *store.Update // the change of the run; nil for none
	waiting bool          // the row can wait
	late    bool          // the run was marked when build was called

	invalidated *store.Position // decisions after it are replaced
	judged      bool            // the store may have warnings, decisions or checkpoints of the run
	decisions   []store.Decision
	questions   []*policy.Question // of events that were not folded before
	reanalyzed
	checkpointsMade []store.Checkpoint
	pruned          []store.Checkpoint
}

// folding says how the new events of a run are folded.
type folding uint8

const (
	foldOn    folding = iota // after the earlier ones
	foldAgain                // with the earlier ones, from a checkpoint
	foldLater                // not with this commit: the run is marked
)

// lookUp finds the events that the store already has.
func (t *runChange) lookUp(ctx context.Context, p *Pipeline) (err error) {
	if t.folds() {
		t.from, err = t.resolve(ctx, p)
	}
	return err
}

// folds reports whether the commit changes the events of the run.
func (t *runChange) folds() bool { return !t.deleted && len(t.items)+len(t.replaced) > 0 }

// number gives the new events their arrivals, and decides how the run is folded. One goroutine numbers the runs of a commit in turn,
// so numbers and decisions do not depend on the number of shards.
func (t *runChange) number(p *Pipeline) {
	if !t.folds() {
		return
	}
	t.items = slices.DeleteFunc(t.items, func(it *item) bool { return it.dropped })
	for _, it := range t.items {
		it.arrival = p.newArrival()
		if !it.change {
			it.at.Tie = it.arrival
		}
		if it.at.Compare(t.from) < 0 {
			t.from = it.at
		}
	}
	switch {
	case t.current && t.from.Compare(t.fold.s.Furthest) > 0:
		t.how = foldOn
	case t.row.Refold != nil:
		t.how = foldLater
	default:
		if !t.current {
			t.from = store.Start
		}
		t.how = foldLater
		if p.refolds.allow(t.run, t.cost(t.from)) {
			t.how = foldAgain
		}
	}
}

// foldItems folds the run with its new events.
func (t *runChange) foldItems(ctx context.Context, p *Pipeline) error {
	if !t.folds() {
		return nil
	}
	if p.opts.Content != FullContent {
		for _, it := range t.items {
			t.remember(it.event)
		}
	}
	sorted := slices.Clone(t.items)
	slices.SortStableFunc(sorted, func(a, b *item) int { return a.at.Compare(b.at) })
	if t.kept != nil {
		t.kept.change(t.removed, sorted)
	}
	switch t.how {
	case foldLater:
		t.mark(t.from, sorted)
	case foldAgain:
		if err := t.refold(ctx, p, t.from, sorted); err != nil {
			return err
		}
	case foldOn:
		for _, it := range sorted {
			var d policy.Decision
			if d, it.analysis = t.add(p, it.event, it.placement); d.Question != nil {
				t.questions = append(t.questions, d.Question)
			}
		}
	}
	if t.kept != nil {
		t.kept.settle()
		t.dropKept()
	}
	if t.abandoned() {
		t.deleted, t.emptied = true, true
		return nil
	}
	return t.keepState(p)
}

// unit is the number of bytes of content that cost as much as an event without content.
const unit = 4096

// cost returns the approximate cost of a refold from a position, beyond that of folding the new events: the stored events that it folds
// again, and the units of their bytes.
func (t *runChange) cost(from store.Position) int {
	events := t.fold.s.Events
	for _, c := range t.checkpoints {
		if c.Position.Compare(from) < 0 {
			events = t.fold.s.Events - c.Events
		}
	}
	if events -= len(t.removed); events <= 0 {
		return 0
	}
	return events + int(t.fold.s.Bytes/unit*int64(events)/int64(t.fold.s.Events))
}

// mark marks the run for a refold from a position. Until the refold its events are recorded and not folded.
func (t *runChange) mark(from store.Position, items []*item) {
	behind := store.Start
	for _, c := range t.checkpoints {
		if c.Position.Compare(from) < 0 {
			behind = c.Position
		}
	}
	switch {
	case t.row.Refold == nil:
		t.recorded = t.run.furthest()
		t.row.Refold, t.current, t.marked = &store.Refold{Behind: behind, Name: t.derivedName}, false, true
	case from.Compare(t.row.Refold.Behind) <= 0:
		t.row.Refold, t.marked = &store.Refold{Behind: behind, Name: t.row.Refold.Name}, true
	}
	if n := len(items); n > 0 && items[n-1].at.Compare(t.recorded) > 0 {
		t.recorded = items[n-1].at
	}
}

// resolve marks the duplicate events. It returns the first position at which the stored events change.
func (t *runChange) resolve(ctx context.Context, p *Pipeline) (from store.Position, err error) {
	from = end
	if !t.stored {
		return from, nil
	}
	var ids []string
	if len(t.replaced) > 0 && t.replacesAll(p) {
		t.removed, from = slices.Sorted(maps.Keys(t.replaced)), store.Start
	} else {
		ids = slices.Collect(maps.Keys(t.replaced))
	}
	for _, it := range t.items {
		if it.check && !it.change && !it.dropped {
			ids = append(ids, it.event.ID)
		}
	}
	if len(ids) == 0 {
		return from, nil
	}
	known, err := t.known(ctx, p, ids)
	if err != nil {
		return from, err
	}
	for id, at := range known {
		if !t.replaced[id] {
			it := t.byID[id]
			it.dropped, it.result.Duplicate = true, true
			continue
		}
		t.removed = append(t.removed, id)
		if at.Compare(from) < 0 {
			from = at
		}
	}
	slices.Sort(t.removed)
	return from, nil
}

// known returns the given ids that are ids of recorded events of the run, with their positions.
func (t *runChange) known(ctx context.Context, p *Pipeline, ids []string) (map[string]store.Position, error) {
	if t.kept != nil {
		return t.kept.known(ids), nil
	}
	return p.opts.Store.Known(ctx, t.row.Number, ids)
}

// end is after the position of every event.
var end = store.Position{Sequence: 1<<63 - 1, Time: 1<<63 - 1, Tie: 1<<63 - 1}

// refold folds the run again from the last checkpoint before a position: the stored events after it, except removed ones, merged with
// the items, which are sorted.
func (t *runChange) refold(ctx context.Context, p *Pipeline, from store.Position, items []*item) error {
	p.opts.Metrics.Refolds.Inc()
	if t.kept != nil {
		behind := store.Start
		t.fold, t.checkpoints, t.invalidated = p.newFold(t.row.ID), nil, &behind
		t.foldKept(p)
		t.current, t.fold.grew = true, true
		return nil
	}
	none := t.storesOnly(p, len(t.removed)) // of the stored events remains
	if none {
		t.fold = p.newFold(t.row.ID)
	} else if err := p.resume(ctx, t.run, func(at store.Position) bool { return at.Compare(from) < 0 }); err != nil {
		return err
	}
	behind := t.fold.s.Furthest
	t.invalidated = &behind
	if !none {
		t.keep(p)
		var err error
		if items, err = t.foldStored(ctx, p, items); err != nil {
			return err
		}
	}
	for _, it := range items {
		t.addItem(p, it)
	}
	t.current, t.fold.grew = true, true
	return nil
}

// foldStored folds the stored events after those that are folded, and the items before the last of them. It returns the other items.
func (t *runChange) foldStored(ctx context.Context, p *Pipeline, items []*item) ([]*item, error) {
	whole := t.wholeEvents()
	err := p.opts.Store.Events(ctx, t.row.Number, t.fold.s.Furthest, func(e *store.Event) error {
		if t.replaced[e.ID] {
			return nil
		}
		for len(items) > 0 && items[0].at.Compare(e.Position) < 0 {
			t.addItem(p, items[0])
			items = items[1:]
		}
		t.addStored(p, whole[e.ID], e)
		return nil
	})
	return items, err
}

// addItem folds a new event, and keeps it.
func (t *runChange) addItem(p *Pipeline, it *item) {
	_, it.analysis = t.add(p, it.event, it.placement)
	if t.kept != nil {
		t.kept.append(keptEvent{event: it.event, id: store.Key(it.event.ID), placement: it.placement, analysis: it.analysis})
	}
}

// add folds one event, records the decision at it, and writes a checkpoint when one is due. It returns the decision and the
// analysis of the event.
func (t *runChange) add(p *Pipeline, e *unloop.Event, as placement) (d policy.Decision, analysis []byte) {
	unjudged := t.fold.unjudged
	d = p.add(t.fold, e, as)
	if t.fold.unjudged == unjudged {
		analysis = t.fold.analyze(e)
	}
	if d.Action != policy.Allow && t.fold.s.Decisions <= maxDecisions {
		t.decisions = append(t.decisions, decisionOf(t.run, &d, as.at, e.ID))
	}
	if t.eventsSinceCheckpoint() >= p.every {
		t.checkpoint()
	}
	return d, analysis
}
