package pipeline

import (
	"context"
	"errors"
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
	forwarded

	batch   *store.Batch // what is written
	updates []*store.Update
	epoch   int
	outcome
	arrival, number int64 // of the latest event and run before it
	discarded       bool
}

func (p *Pipeline) newCommit(group []*queued) *commit {
	return &commit{
		p: p, group: group, arrival: p.arrival, number: p.number, runs: make(map[string]*runChange), traces: make(map[*liveTrace]time.Time), links: make(map[link]bool),
	}
}

// record writes a group of submissions to the store and then notifies the sinks. After an error nothing of the group is recorded, and
// its runs are dropped from memory. Nothing may be under way.
func (p *Pipeline) record(ctx context.Context, group []*queued) error {
	if p.fenced != nil {
		return p.fenced
	}
	c := p.newCommit(group)
	return p.complete(ctx, c, c.make(ctx))
}

// complete writes a commit that was made with this error, if it is nil.
func (p *Pipeline) complete(ctx context.Context, c *commit, err error) error {
	began := time.Now()
	if err == nil {
		err = c.guard(func() error { return c.write(ctx) })
	}
	p.noteDue()
	if err != nil {
		c.discard()
		p.failedWith(c, err)
		return err
	}
	p.opts.Metrics.Commit.Observe(time.Since(began).Seconds())
	p.weighAll(c)
	p.makeRoom(ctx)
	return nil
}

// discard drops the runs and traces of a commit from memory, since they are not what the store has.
func (c *commit) discard() {
	if c.discarded {
		return
	}
	c.discarded = true
	if c.batch != nil {
		c.p.markUnwritten(c.batch)
	}
	for id := range c.runs {
		c.p.drop(id)
	}
	for t := range c.traces {
		c.p.traces.drop(t)
	}
	c.p.noteDue()
}

// failedWith counts and logs a commit that was not written.
func (p *Pipeline) failedWith(c *commit, err error) {
	p.noteFence(err)
	p.opts.Metrics.Failures.Inc()
	p.logFailure("recording failed; the submissions are rejected", "deliveries", len(c.group), "error", err)
}

func (p *Pipeline) weighAll(c *commit) {
	for _, t := range c.order {
		p.weigh(t.run)
	}
}

// guard calls do. A panic is returned as an error, so the group fails and the server continues.
func (c *commit) guard(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.p.rowsMissing = true // it is unknown which due rows are written
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
		}
	}()
	return do()
}

// errUnwritten means that what was under way could not be written, so what was placed behind it is not valid.
var errUnwritten = errors.New("earlier commits were recorded again")

// make places and folds the group, and makes the batch. Other commits may be under way.
func (c *commit) make(ctx context.Context) error {
	began := time.Now()
	err := c.guard(func() error {
		if err := c.place(ctx); err != nil {
			return err
		}
		if c.readsUnwritten() && !c.p.drain(ctx) {
			return errUnwritten
		}
		if err := c.fold(ctx); err != nil {
			return err
		}
		c.batch, c.updates = c.makeBatch()
		return c.forward(ctx)
	})
	c.p.opts.Metrics.Detect.Observe(time.Since(began).Seconds())
	return err
}

// deletes reports whether the commit deletes runs.
func (c *commit) deletes() bool {
	return slices.ContainsFunc(c.order, func(t *runChange) bool { return t.deleted })
}

// readsUnwritten reports whether folding needs stored events of a run whose latest events the writer has not stored yet.
func (c *commit) readsUnwritten() bool {
	for _, t := range c.order {
		if t.underWay == 0 {
			continue
		}
		if !t.current || len(t.replaced) > 0 {
			return true
		}
		for _, it := range t.items {
			if it.check {
				return true
			}
		}
	}
	return false
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
		checked: c.p.resent[id], arrival: r.row.Arrival, updated: r.row.Updated,
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
		if err := c.placeForwarded(ctx, w); err != nil {
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

// fold orders, folds and judges the runs, and builds their updates.
func (c *commit) fold(ctx context.Context) error {
	if err := c.each(func(t *runChange) error { return t.lookUp(ctx, c.p.opts.Store) }); err != nil {
		return err
	}
	for _, t := range c.order {
		t.number(c.p)
	}
	return c.each(func(t *runChange) error {
		if err := t.settle(ctx, c.p); err != nil {
			return err
		}
		t.build(c.p)
		return nil
	})
}

// write commits, repairs the runs with an unexpected duplicate event, and publishes.
func (c *commit) write(ctx context.Context) error {
	duplicates, err := c.p.commit(ctx, c.batch)
	if err != nil {
		return err
	}
	c.count(len(duplicates))
	if len(duplicates) > 0 {
		if err := c.repair(ctx, duplicates, c.updates); err != nil {
			return err
		}
	}
	c.after()
	c.p.publish(c.updates)
	return nil
}

// after does what the recorder has to do once the commit is on disk.
func (c *commit) after() {
	for _, t := range c.order {
		switch {
		case t.deleted && !t.emptied:
			c.p.traces.dropOf(t.row.ID)
		case t.deleted:
		case t.late:
			c.p.noteChange(t.run, t.from)
		}
		c.p.ask(t)
	}
}

// count counts the events of a commit that was written, and those that were not since the store had them.
func (c *commit) count(doubled int) {
	c.p.opts.Metrics.Recorded.Add(float64(len(c.batch.Events) - doubled))
	c.p.opts.Metrics.Duplicates.Add(float64(c.markDuplicates() + doubled))
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

// makeBatch returns the batch to write and the updates for the sinks.
func (c *commit) makeBatch() (*store.Batch, []*store.Update) {
	b := new(store.Batch)
	for _, w := range c.group {
		b.Sequence = max(b.Sequence, w.Sequence)
	}
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
		t.build(c.p)
		u := t.update
		if u == nil {
			continue
		}
		t.fill(b, u)
		if t.waiting {
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
	t.waiting = t.update != nil && t.stored && !t.rowChanged && !t.marked && len(t.update.Removed) == 0 &&
		p.opts.Partition == nil && time.Since(t.written) < rowEvery && sameButTotals(&before, &t.row)
}

// change returns the change of the run by this commit; nil for none.
func (t *runChange) change(profile string) *store.Update {
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
