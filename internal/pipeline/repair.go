package pipeline

import (
	"context"

	"github.com/unloop-ai/unloop/internal/store"
)

// repair folds those runs anew in which an event was folded that the store has already and left out: one that came with another
// position than the first time. It corrects the updates.
func (c *commit) repair(ctx context.Context, doubled []store.EventRef, updates []*store.Update) error {
	left := make(map[int64]map[string]bool)
	for _, ref := range doubled {
		if left[ref.Run] == nil {
			left[ref.Run] = make(map[string]bool)
		}
		left[ref.Run][ref.ID] = true
	}
	again := &commit{p: c.p, runs: make(map[string]*touched)}
	for _, t := range c.order {
		ids := left[t.row.Number]
		if ids == nil {
			continue
		}
		from := end
		for id := range ids {
			it := t.byID[id]
			if it.result != nil {
				it.result.Doubled = true
			}
			if it.at.Compare(from) < 0 {
				from = it.at
			}
		}
		mended, err := again.touch(ctx, t.row.ID)
		if err != nil {
			return err
		}
		if err := mended.refold(ctx, c.p, from, nil); err != nil {
			return err
		}
		if err := mended.keepState(c.p); err != nil {
			return err
		}
	}
	batch, mended := again.batch()
	if _, err := c.p.opts.Store.Commit(ctx, batch); err != nil {
		return err
	}
	for _, m := range mended {
		for _, u := range updates {
			if u.Run.Number == m.Run.Number {
				m.Events, m.Removed = without(u.Events, left[m.Run.Number]), u.Removed
				m.Raised, m.Grown = u.Raised, u.Grown
				if m.Events == nil {
					m.Raised, m.Grown = nil, nil
				}
				*u = *m
			}
		}
	}
	return nil
}

func without(events []store.Event, ids map[string]bool) (rest []store.Event) {
	for _, e := range events {
		if !ids[e.ID] {
			rest = append(rest, e)
		}
	}
	return rest
}
