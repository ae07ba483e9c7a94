package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// commit is a commit in progress.
type commit struct {
	p      *Pipeline
	group  []*queued
	runs   map[string]*runChange
	order  []*runChange
	traces map[*liveTrace]time.Time // when their latest spans arrived
	links  map[link]bool            // whether the trace has events in the run
	spans  []store.Span
	forwarded

	batch   *store.Batch // to write
	updates []*store.Update
	epoch   int
	outcome
	arrival, number int64 // of the latest event and run before it
	discarded       bool
	checksNew       bool // new events of traces are looked for in the store; otherwise the store finds out that it has one
}

// newCommit returns an empty commit of a group of submissions.
func (p *Pipeline) newCommit(group []*queued) *commit {
	return &commit{
		p: p, group: group, arrival: p.arrival, number: p.number, runs: make(map[string]*runChange), traces: make(map[*liveTrace]time.Time), links: make(map[link]bool),
	}
}

// errUnwritten means that an earlier commit could not be written, so the commits made after it are invalid.
var errUnwritten = errors.New("earlier commits were recorded again")

// make places and folds the group, and makes the batch. The writer may have other commits.
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

// guard calls do. A panic is returned as an error, so the group fails and the server continues.
func (c *commit) guard(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			c.p.rowsMissing = true // it is unknown whether the due rows were written
			err = panicError(cause)
		}
	}()
	return do()
}

// readsUnwritten reports whether folding needs stored events of a run whose latest events the writer has not stored yet.
func (c *commit) readsUnwritten() bool {
	return slices.ContainsFunc(c.order, func(t *runChange) bool { return t.underWay > 0 && t.reads(c.p) })
}

// deletes reports whether the commit deletes runs.
func (c *commit) deletes() bool {
	return slices.ContainsFunc(c.order, func(t *runChange) bool { return t.deleted })
}

// touch returns the change of a run in this commit. The run is loaded at its first event.
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
		checked: c.p.resent[id], checksNew: c.checksNew, arrival: r.row.Arrival, updated: r.row.Updated,
		judged: len(r.warnings)+len(r.checkpoints) > 0 || r.row.WorstAction != policy.Allow || !r.current && r.kept == nil,
	}
	c.runs[id] = t
	c.order = append(c.order, t)
	return t, nil
}

// place places what the submissions have in the changes of their runs, in the order of arrival.
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
			t.release(e)
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

// inform changes the row of a run by what a submission says of it.
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
	if err := c.each(func(t *runChange) error { return t.lookUp(ctx, c.p) }); err != nil {
		return err
	}
	for _, t := range c.order {
		t.number(c.p)
	}
	return c.each(func(t *runChange) error {
		if err := t.foldItems(ctx, c.p); err != nil {
			return err
		}
		t.build(c.p)
		return nil
	})
}

// discard drops the runs and traces of a commit from memory, because they differ from those in the store.
func (c *commit) discard() {
	if c.discarded {
		return
	}
	c.discarded = true
	if c.batch != nil {
		c.p.markUnwritten(c.batch)
	}
	c.repeatRecalls()
	for id := range c.runs {
		c.p.drop(id)
	}
	for t := range c.traces {
		c.p.traces.drop(t)
	}
	c.p.noteDue()
}

// skipped returns the number of events that were skipped as duplicates before the commit.
func (c *commit) skipped() (n int) {
	for _, w := range c.group {
		for k := range w.ack.Events {
			if w.ack.Events[k].Duplicate {
				n++
			}
		}
	}
	return n
}
