package pipeline

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// commit is one commit while it is made.
type commit struct {
	p      *Pipeline
	group  []*queued
	runs   map[string]*runChange
	order  []*runChange
	traces map[*liveTrace]time.Time // when their latest spans arrived
	links  map[link]bool            // whether the trace has events in the run
	spans  []store.Span
}

func (p *Pipeline) newCommit(group []*queued) *commit {
	return &commit{
		p: p, group: group, runs: make(map[string]*runChange), traces: make(map[*liveTrace]time.Time), links: make(map[link]bool),
	}
}

// record writes a group of submissions to the store and then notifies the sinks. After an error nothing of the group is recorded,
// and its runs are dropped from memory.
func (p *Pipeline) record(ctx context.Context, group []*queued) error {
	began := time.Now()
	c := p.newCommit(group)
	folded, err := c.make(ctx)
	p.due.Store(int64(len(p.unwritten)))
	if err != nil {
		for id := range c.runs {
			p.drop(id)
		}
		for t := range c.traces {
			p.traces.drop(t)
		}
		p.opts.Metrics.Failures.Inc()
		p.logFailure("recording failed; the submissions are rejected", "deliveries", len(group), "error", err)
		return err
	}
	p.opts.Metrics.Detect.Observe(folded.Sub(began).Seconds())
	p.opts.Metrics.Commit.Observe(time.Since(folded).Seconds())
	for _, t := range c.order {
		p.weigh(t.run)
	}
	p.makeRoom(ctx)
	return nil
}

// make places, folds and writes the group. It returns the time at which folding ended. A panic is returned as an error, so the group
// fails and the server continues.
func (c *commit) make(ctx context.Context) (folded time.Time, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.p.rowsMissing = true // it is unknown which due rows are written
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
		}
	}()
	if err = c.place(ctx); err == nil {
		err = c.fold(ctx)
	}
	folded = time.Now()
	if err == nil {
		err = c.write(ctx)
	}
	return folded, err
}

func (c *commit) touch(ctx context.Context, id string) (*runChange, error) {
	if t := c.runs[id]; t != nil {
		return t, nil
	}
	r, err := c.p.run(ctx, id)
	if err != nil {
		return nil, err
	}
	r.used = time.Now()
	t := &runChange{
		run: r, byID: make(map[string]*item), replaced: make(map[string]bool), furthest: r.furthest(), before: r.warnings, from: end,
	}
	c.runs[id] = t
	c.order = append(c.order, t)
	return t, nil
}

func (c *commit) place(ctx context.Context) error {
	for _, w := range c.group {
		for _, info := range w.Runs {
			if err := c.inform(ctx, info, w.received); err != nil {
				return err
			}
		}
		for i, e := range w.Events {
			t, err := c.touch(ctx, e.RunID)
			if err != nil {
				return err
			}
			t.setProject(w.Services[e.RunID], c.p.opts.Project)
			result := &w.ack.Events[i]
			result.ID = e.ID
			t.place(&item{event: e, body: w.bodies[i], placement: placement{received: w.received, size: len(w.bodies[i])}, result: result})
		}
		if err := c.placeSpans(ctx, w); err != nil {
			return err
		}
		for _, id := range w.Deleted {
			t, err := c.touch(ctx, id)
			if err != nil {
				return err
			}
			t.deleted = true
		}
		if err := c.stripContent(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

func (c *commit) inform(ctx context.Context, info Info, received time.Time) error {
	t, err := c.touch(ctx, info.ID)
	if err != nil {
		return err
	}
	t.rowChanged, t.informed = true, true
	row := &t.row
	if info.Name != "" {
		row.Name = info.Name
	}
	if info.Project != "" {
		row.Project = info.Project
	}
	if info.Metadata != nil {
		row.Metadata = info.Metadata
	}
	t.ended = t.ended || info.Ended
	if info.Control != nil {
		row.Controls = withControl(row.Controls, *info.Control)
	}
	for _, hint := range info.Hints {
		if len(row.Hints) < store.MaxHints && !slices.Contains(row.Hints, hint) {
			row.Hints = append(slices.Clip(row.Hints), hint)
		}
	}
	if row.Updated.IsZero() { // the run begins with this information
		row.Started, row.Updated = received, received
		row.Health = t.fold.session.Health()
	}
	return nil
}

func (c *commit) fold(ctx context.Context) error {
	for _, t := range c.order {
		if t.deleted || len(t.items) == 0 && len(t.replaced) == 0 {
			continue
		}
		if err := t.foldItems(ctx, c.p); err != nil {
			return err
		}
		if t.abandoned() {
			t.deleted, t.emptied = true, true
			continue
		}
		if err := t.keepState(c.p); err != nil {
			return err
		}
	}
	return nil
}

// write commits, repairs the runs with an unexpected duplicate event, and publishes.
func (c *commit) write(ctx context.Context) error {
	batch, updates := c.batch()
	duplicates, err := c.p.commit(ctx, batch)
	if err != nil {
		c.p.markUnwritten(batch)
		return err
	}
	c.p.opts.Metrics.Recorded.Add(float64(len(batch.Events) - len(duplicates)))
	c.p.opts.Metrics.Duplicates.Add(float64(c.markDuplicates() + len(duplicates)))
	if len(duplicates) > 0 {
		if err := c.repair(ctx, duplicates, updates); err != nil {
			return err
		}
	}
	for _, t := range c.order {
		switch {
		case t.deleted && !t.emptied:
			c.p.traces.dropOf(t.row.ID)
		case t.row.Refold != nil && !t.deleted:
			c.p.noteChange(t.run, t.from)
		}
		c.p.ask(t)
	}
	c.p.publish(updates)
	return nil
}

// publish notifies the sinks of committed updates.
func (p *Pipeline) publish(updates []*store.Update) {
	for _, u := range updates {
		if u.Deleted {
			p.drop(u.Run.ID)
			p.setLate(u.Run.ID, nil)
		}
		for _, k := range u.Raised {
			p.opts.Metrics.Raised.WithLabelValues(u.Warnings[k].Rule).Inc()
		}
		for _, sink := range p.opts.Sinks {
			sink.Publish(u)
		}
	}
}

// markDuplicates returns the number of events that were skipped as duplicates.
func (c *commit) markDuplicates() (n int) {
	for _, w := range c.group {
		for k := range w.ack.Events {
			if w.ack.Events[k].Duplicate {
				n++
			}
		}
	}
	return n
}

// batch returns the batch to write and the updates for the sinks.
func (c *commit) batch() (*store.Batch, []*store.Update) {
	b := new(store.Batch)
	c.addTraces(b)
	var updates []*store.Update
	for _, t := range c.order {
		if t.deleted {
			switch {
			case t.emptied && !t.stored:
				c.p.drop(t.row.ID) // it was never published
				continue
			case t.emptied:
				b.Emptied = append(b.Emptied, t.row.Number)
			case t.stored:
				b.Deleted = append(b.Deleted, t.row.Number)
			}
			updates = append(updates, &store.Update{Run: store.Run{ID: t.row.ID, Number: t.row.Number}, Deleted: true})
			continue
		}
		before := t.row
		u := t.update(c.p.opts.Profile.Name())
		if u == nil {
			continue
		}
		t.fill(b, u)
		if t.stored && !t.rowChanged && !t.marked && len(u.Removed) == 0 && time.Since(t.written) < rowEvery && sameButTotals(&before, &u.Run) {
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

// update returns the change of the run by this commit; nil for none.
func (t *runChange) update(profile string) *store.Update {
	u := &store.Update{Removed: t.trulyRemoved(), Decisions: t.decisions, Invalidated: t.invalidated, Analyses: t.reported, Reset: t.truncated}
	for _, it := range t.items {
		if it.dropped {
			continue
		}
		u.Events = append(u.Events, store.Event{
			Arrival: it.arrival, Run: t.row.Number, ID: it.event.ID, Position: it.at, Received: it.received, Body: it.body, Analysis: it.analysis,
		})
	}
	changed := len(u.Events) > 0 || t.invalidated != nil
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
		t.row.Status, t.row.Ended = store.Completed, t.fold.s.Last
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
		b.Invalidated = append(b.Invalidated, store.Invalidated{Run: t.row.Number, Behind: *t.invalidated})
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
