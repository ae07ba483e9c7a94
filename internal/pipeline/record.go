package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// commit is what one commit is made of.
type commit struct {
	p      *Pipeline
	group  []*waiting
	runs   map[string]*touched
	order  []*touched
	traces []*trace
	spans  []store.Span
}

// record takes a group of deliveries into the store and then tells the sinks. After an error nothing of the group counts, and
// what is in memory of the runs is dropped.
func (p *Pipeline) record(ctx context.Context, group []*waiting) error {
	began := time.Now()
	c := &commit{p: p, group: group, runs: make(map[string]*touched)}
	err := c.place(ctx)
	if err == nil {
		err = c.fold(ctx)
	}
	folded := time.Now()
	if err == nil {
		err = c.write(ctx)
	}
	p.due.Store(int64(len(p.unwritten)))
	if err != nil {
		for id := range c.runs {
			p.drop(id)
		}
		p.traces.drop(c.traces)
		p.opts.Metrics.Failures.Inc()
		p.opts.Log.Error("recording did not succeed; what waits is refused", "deliveries", len(group), "error", err)
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

func (c *commit) touch(ctx context.Context, id string) (*touched, error) {
	if t := c.runs[id]; t != nil {
		return t, nil
	}
	r, err := c.p.run(ctx, id)
	if err != nil {
		return nil, err
	}
	r.used = time.Now()
	t := &touched{run: r, byID: make(map[string]*item), out: make(map[string]bool)}
	if r.fold.s.Events > 0 {
		t.furthest = r.fold.s.Furthest
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
			t.belong(w.Services[e.RunID], c.p.opts.Project)
			result := &w.receipt.Events[i]
			result.ID = e.ID
			t.place(&item{event: e, body: w.bodies[i], placed: placed{received: w.received, size: len(w.bodies[i])}, result: result})
		}
		if err := c.placeSpans(ctx, w); err != nil {
			return err
		}
		for _, id := range w.Gone {
			t, err := c.touch(ctx, id)
			if err != nil {
				return err
			}
			t.gone = true
		}
	}
	return nil
}

func (c *commit) inform(ctx context.Context, info Info, received time.Time) error {
	t, err := c.touch(ctx, info.ID)
	if err != nil {
		return err
	}
	t.told = true
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
	if row.Updated.IsZero() { // it begins with what is said of it
		row.Started, row.Updated = received, received
		row.Health = t.fold.watch.Health()
	}
	return nil
}

func (c *commit) fold(ctx context.Context) error {
	for _, t := range c.order {
		if t.gone || len(t.items) == 0 && len(t.out) == 0 {
			continue
		}
		if err := t.settle(ctx, c.p); err != nil {
			return err
		}
		if err := t.keepState(c.p); err != nil {
			return err
		}
	}
	return nil
}

// write commits, repairs the runs of which the store had an event that nobody expected, and publishes.
func (c *commit) write(ctx context.Context) error {
	batch, updates := c.batch()
	doubled, err := c.p.commit(ctx, batch)
	if err != nil {
		c.p.unwrite(batch)
		return err
	}
	c.p.opts.Metrics.Recorded.Add(float64(len(batch.Events) - len(doubled)))
	c.p.opts.Metrics.Doubled.Add(float64(c.doubled() + len(doubled)))
	if len(doubled) > 0 {
		if err := c.repair(ctx, doubled, updates); err != nil {
			return err
		}
	}
	for _, u := range updates {
		if u.Gone {
			c.p.drop(u.Run.ID)
		}
		for _, k := range u.Raised {
			c.p.opts.Metrics.Raised.WithLabelValues(u.Warnings[k].Rule).Inc()
		}
		for _, sink := range c.p.opts.Sinks {
			sink.Publish(u)
		}
	}
	return nil
}

// doubled returns how many events were left out since they had come before.
func (c *commit) doubled() (n int) {
	for _, w := range c.group {
		for k := range w.receipt.Events {
			if w.receipt.Events[k].Doubled {
				n++
			}
		}
	}
	return n
}

// batch returns what is to be written, and what the sinks will be told.
func (c *commit) batch() (*store.Batch, []*store.Update) {
	b := &store.Batch{Spans: c.spans}
	var updates []*store.Update
	for _, t := range c.order {
		if t.gone {
			if t.stored {
				b.Gone = append(b.Gone, t.row.Number)
			}
			updates = append(updates, &store.Update{Run: store.Run{ID: t.row.ID, Number: t.row.Number}, Gone: true})
			continue
		}
		before := t.row
		u := t.update(c.p.opts.Profile.Name)
		if u == nil {
			continue
		}
		t.fill(b, u)
		if t.stored && !t.told && time.Since(t.written) < rowEvery && alike(&before, &u.Run) {
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

// flush reports whether a delivery of the group asks for all rows to be written.
func (c *commit) flush() bool {
	return slices.ContainsFunc(c.group, func(w *waiting) bool { return w.flush })
}

// update says what the commit brings to the run; nil for nothing.
func (t *touched) update(profile string) *store.Update {
	u := &store.Update{Removed: t.trulyRemoved(), Decisions: t.decisions, Undone: t.undone}
	for _, it := range t.items {
		if it.dead {
			continue
		}
		u.Events = append(u.Events, store.Event{
			Arrival: it.arrival, Run: t.row.Number, ID: it.event.ID, Position: it.at, Received: it.received, Body: it.body,
		})
	}
	folded := len(u.Events) > 0 || t.undone != nil
	if !folded && !t.told {
		return nil
	}
	if t.fold.grew {
		before := t.warnings
		t.warnings = warningsOf(t.run)
		u.Raised, u.Grown = changes(before, t.warnings)
	}
	if folded {
		t.describe(profile)
	}
	u.Run, u.Warnings = t.row, t.warnings
	return u
}

// trulyRemoved returns the ids that the store had and that do not come again.
func (t *touched) trulyRemoved() (ids []string) {
	for _, id := range t.removed {
		if it := t.byID[id]; it == nil || it.dead {
			ids = append(ids, id)
		}
	}
	return ids
}

// fill adds the run's part to a batch.
func (t *touched) fill(b *store.Batch, u *store.Update) {
	for _, id := range t.removed {
		b.Removed = append(b.Removed, store.EventRef{Run: t.row.Number, ID: id})
	}
	b.Events = append(b.Events, u.Events...)
	b.Decisions = append(b.Decisions, u.Decisions...)
	b.Checkpoints = append(b.Checkpoints, t.made...)
	b.Thinned = append(b.Thinned, t.thinned...)
	if t.undone != nil {
		b.Undone = append(b.Undone, store.Undone{Run: t.row.Number, Behind: *t.undone})
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

// decode reads an event of the store. One that cannot be read is left out, so that it does not keep its run from going on.
func (p *Pipeline) decode(e *store.Event) *unloop.Event {
	event, err := store.Decode(e.Body)
	if err != nil {
		p.opts.Metrics.Unreadable.Inc()
		p.opts.Log.Error("an event of the store cannot be read and is left out", "run", e.Run, "arrival", e.Arrival)
		return nil
	}
	return event
}
