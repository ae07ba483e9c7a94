package pipeline

import (
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// makeBatch returns the batch to write and the updates for the sinks.
func (c *commit) makeBatch() (*store.Batch, []*store.Update) {
	b := new(store.Batch)
	for _, w := range c.group {
		b.Sequence = max(b.Sequence, w.Sequence)
	}
	c.addTraces(b)
	removed, events := 0, 0
	for _, t := range c.order {
		removed += len(t.removed)
		events += len(t.items)
	}
	b.Removed, b.Events = make([]store.EventRef, 0, removed), make([]store.Event, 0, events)
	var updates []*store.Update
	for _, t := range c.order {
		if t.deleted {
			switch {
			case t.emptied && !t.stored:
				c.p.dropDeleted(t.row.ID) // it was never published
				continue
			case t.emptied:
				b.Emptied = append(b.Emptied, t.row.Number)
			case t.stored:
				b.Deleted = append(b.Deleted, t.row.Number)
			}
			updates = append(updates, &store.Update{Run: store.Run{ID: t.row.ID, Number: t.row.Number}, Deleted: true})
			continue
		}
		t.build(c.p)
		u := t.update
		if u == nil {
			continue
		}
		t.fill(b, u)
		if c.p.opts.Notices != nil {
			u.Notices = c.p.opts.Notices(u)
			b.Notices = append(b.Notices, u.Notices...)
		}
		if t.waiting && len(u.Notices) == 0 { // a notice shows the row
			c.p.unwritten[t.row.ID] = t.run
		} else {
			c.p.writeRow(b, t.run)
		}
		updates = append(updates, u)
	}
	if c.flush() || len(c.p.unwritten) == 0 {
		c.p.writeRows(b)
	}
	return b, updates
}

// flush reports whether a submission of the group requires all rows to be written.
func (c *commit) flush() bool {
	return slices.ContainsFunc(c.group, func(w *queued) bool { return w.flush })
}

// build sets update. A run that is deleted has none.
func (t *runChange) build(p *Pipeline) {
	if t.built || t.deleted {
		return
	}
	before := t.row
	t.update = t.change(p.opts.Profile.Name())
	t.built, t.late = true, t.row.Refold != nil
	t.waiting = t.update != nil && t.stored && !t.rowChanged && !t.marked && len(t.removed) == 0 &&
		p.opts.Partition == nil && time.Since(t.written) < rowEvery && sameButTotals(&before, &t.row)
}

// change returns the change of the run by this commit; nil for none.
func (t *runChange) change(profile string) *store.Update {
	u := &store.Update{Removed: t.trulyRemoved(), Decisions: t.decisions, Invalidated: t.invalidated, Analyses: t.reported, Reset: t.truncated}
	u.Events = make([]store.Event, 0, len(t.items))
	for _, it := range t.items {
		if it.dropped {
			continue
		}
		u.Events = append(u.Events, store.Event{
			Arrival: it.arrival, Run: t.row.Number, ID: it.event.ID, Position: it.at, Received: it.received, Body: it.body, Analysis: it.analysis,
		})
	}
	changed := len(u.Events)+len(t.removed) > 0 || t.invalidated != nil
	if !changed && !t.rowChanged && !t.marked {
		return nil
	}
	if t.row.Refold != nil && t.invalidated == nil {
		t.arrived(u.Events)
		u.Run, u.Warnings = t.row, t.warnings
		return u
	}
	if t.fold.grew || len(t.fold.grown) > 0 {
		t.warnings = warningsAfter(t.warnings, t.run)
		u.Raised, u.Grown = changes(t.before, t.warnings)
	}
	if changed {
		t.describe(profile)
	}
	if t.ended && t.row.Status == store.Running {
		t.row.Status, t.row.Ended = store.Completed, t.fold.s.endAt(t.fold.s.Last)
	}
	u.Run, u.Warnings = t.row, t.warnings
	return u
}

// arrived updates the fields of a marked run's row that do not depend on the fold.
func (t *runChange) arrived(events []store.Event) {
	for k := range events {
		t.row.Arrival = max(t.row.Arrival, events[k].Arrival)
		if events[k].Received.After(t.row.Updated) {
			t.row.Updated = events[k].Received
		}
	}
}

// trulyRemoved returns the stored ids that are deleted and not written again.
func (t *runChange) trulyRemoved() (ids []string) {
	for _, id := range t.removed {
		if it := t.byID[id]; it == nil || it.dropped {
			ids = append(ids, id)
		}
	}
	return ids
}

// fill adds the change of the run to a batch.
func (t *runChange) fill(b *store.Batch, u *store.Update) {
	for _, id := range t.removed {
		b.Removed = append(b.Removed, store.EventRef{Run: t.row.Number, ID: id})
	}
	b.Events = append(b.Events, u.Events...)
	b.Analyses = append(b.Analyses, t.changed...)
	b.Decisions = append(b.Decisions, u.Decisions...)
	b.Checkpoints = append(b.Checkpoints, t.checkpointsMade...)
	b.Pruned = append(b.Pruned, t.pruned...)
	if t.invalidated != nil {
		if t.judged {
			b.Invalidated = append(b.Invalidated, store.Invalidated{Run: t.row.Number, Behind: *t.invalidated})
		}
		b.Warnings = append(b.Warnings, u.Warnings...)
		return
	}
	for _, k := range u.Raised {
		b.Warnings = append(b.Warnings, u.Warnings[k])
	}
	for _, k := range u.Grown {
		b.Warnings = append(b.Warnings, u.Warnings[k])
	}
}
