package pipeline

import (
	"context"

	"github.com/unloop-ai/unloop/internal/store"
)

// repair refolds the runs in which a duplicate event was folded. A duplicate is noticed only by the store if it has another
// position than the first copy. repair also corrects the updates. From then on the store is asked about all events of the run
// before they are folded, so a sender that sends everything again with other positions causes one repair only.
func (c *commit) repair(ctx context.Context, duplicates []store.EventRef, updates []*store.Update) error {
	left := make(map[int64]map[string]bool)
	for _, ref := range duplicates {
		if left[ref.Run] == nil {
			left[ref.Run] = make(map[string]bool)
		}
		left[ref.Run][ref.ID] = true
	}
	again := c.p.newCommit(nil)
	for _, t := range c.order {
		if ids := left[t.row.Number]; ids != nil {
			if err := again.repairRun(ctx, t, ids); err != nil {
				return err
			}
		}
	}
	batch, repaired := again.makeBatch()
	if _, err := c.p.opts.Store.Commit(ctx, batch); err != nil {
		return err
	}
	for _, m := range repaired {
		for _, u := range updates {
			if u.Run.Number == m.Run.Number {
				m.Events, m.Removed, m.Notices = u.Events, u.Removed, append(m.Notices, u.Notices...)
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

// repairRun marks events of a run as duplicates and refolds the run without them.
func (c *commit) repairRun(ctx context.Context, t *runChange, duplicates map[string]bool) error {
	t.kept = nil // it has the duplicates
	from := end
	for id := range duplicates {
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
	repaired, err := c.touch(ctx, t.row.ID)
	if err != nil {
		return err
	}
	repaired.row.Arrival, repaired.row.Updated = t.arrival, t.updated
	repaired.marked = true     // the row that was just written counts the event
	repaired.before = t.before // the sinks have received no later state
	if err := repaired.refold(ctx, c.p, from, nil); err != nil {
		return err
	}
	return repaired.keepState(c.p)
}

func without(events []store.Event, ids map[string]bool) (rest []store.Event) {
	for _, e := range events {
		if !ids[e.ID] {
			rest = append(rest, e)
		}
	}
	return rest
}
