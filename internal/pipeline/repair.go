package pipeline

import (
	"context"

	"github.com/unloop-ai/unloop/internal/store"
)

// repair folds those runs anew in which an event was folded that the store has already and left out: one that came with another
// position than the first time. It corrects the updates. From then on all events of such a run are looked for in the store before
// they are folded, so that one that sends everything again with other positions is repaired once.
func (c *commit) repair(ctx context.Context, doubled []store.EventRef, updates []*store.Update) error {
	left := make(map[int64]map[string]bool)
	for _, ref := range doubled {
		if left[ref.Run] == nil {
			left[ref.Run] = make(map[string]bool)
		}
		left[ref.Run][ref.ID] = true
	}
	again := c.p.newCommit(nil)
	for _, t := range c.order {
		if ids := left[t.row.Number]; ids != nil {
			if err := again.mend(ctx, t, ids); err != nil {
				return err
			}
		}
	}
	batch, mended := again.makeBatch()
	if _, err := c.p.opts.Store.Commit(ctx, batch); err != nil {
		return err
	}
	for _, m := range mended {
		for _, u := range updates {
			if u.Run.Number == m.Run.Number {
				m.Events, m.Removed = u.Events, u.Removed
				*u = *m
			}
		}
	}
	for _, u := range updates {
		if ids := left[u.Run.Number]; ids != nil {
			u.Events = without(u.Events, ids)
		}
	}
	return nil
}

// mend says of events of a run that they are doubled, and undoes that they were folded.
func (c *commit) mend(ctx context.Context, t *runChange, doubled map[string]bool) error {
	from := end
	for id := range doubled {
		it := t.byID[id]
		if it.result != nil {
			it.result.Duplicate = true
		}
		if it.at.Compare(from) < 0 {
			from = it.at
		}
	}
	if len(c.p.resent) == maxResent {
		clear(c.p.resent)
	}
	c.p.resent[t.row.ID] = true
	if t.row.Refold != nil { // they were not folded
		var err error
		t.recorded, err = c.p.opts.Store.Furthest(ctx, t.row.Number)
		return err
	}
	mended, err := c.touch(ctx, t.row.ID)
	if err != nil {
		return err
	}
	mended.row.Arrival, mended.row.Updated = t.arrival, t.updated
	mended.marked = true     // the row that was just written counts the event
	mended.before = t.before // no sink was told more so far
	if err := mended.refold(ctx, c.p, from, nil); err != nil {
		return err
	}
	return mended.keepState(c.p)
}

func without(events []store.Event, ids map[string]bool) (rest []store.Event) {
	for _, e := range events {
		if !ids[e.ID] {
			rest = append(rest, e)
		}
	}
	return rest
}
