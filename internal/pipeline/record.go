package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// record writes a group of submissions to the store and then notifies the sinks. After an error nothing of the group is recorded, and
// its runs are dropped from memory. The writer must be idle.
func (p *Pipeline) record(ctx context.Context, group []*queued) error {
	if p.fenced != nil {
		return p.fenced
	}
	c := p.newCommit(group)
	c.checksNew = true
	return p.complete(ctx, c, c.make(ctx))
}

// complete writes a commit if err, the error of making it, is nil. It returns err otherwise. After store.ErrDuplicate the commit must be
// recorded again.
func (p *Pipeline) complete(ctx context.Context, c *commit, err error) error {
	began := time.Now()
	if err == nil {
		err = c.guard(func() error { return c.write(ctx) })
	}
	p.noteDue()
	if err != nil {
		c.discard()
		if !errors.Is(err, store.ErrDuplicate) {
			p.failedWith(c, err)
		}
		return err
	}
	p.opts.Metrics.Commit.Observe(time.Since(began).Seconds())
	p.weighAll(c)
	p.makeRoom(ctx)
	return nil
}

// failedWith counts and logs a failed commit.
func (p *Pipeline) failedWith(c *commit, err error) {
	p.noteFence(err)
	p.opts.Metrics.Failures.Inc()
	p.logFailure("recording failed; the submissions are rejected", "submissions", len(c.group), "error", err)
}

// weighAll measures the memory of the runs of a commit.
func (p *Pipeline) weighAll(c *commit) {
	for _, t := range c.order {
		p.weigh(t.run)
	}
	p.forgetKept()
}

// write commits, repairs the runs with an unexpected duplicate event, and publishes.
func (c *commit) write(ctx context.Context) error {
	duplicates, err := c.store(ctx)
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

// store writes the batch, and returns the events that the store already had. If it has not looked for all of them, the error is
// store.ErrDuplicate instead.
func (c *commit) store(ctx context.Context) (duplicates []store.EventRef, err error) {
	if c.checksNew {
		return c.p.commit(ctx, c.batch)
	}
	err = c.p.opts.Store.CommitTogether(ctx, []*store.Batch{c.batch})
	if !errors.Is(err, store.ErrDuplicate) {
		c.p.noteOutcome(err)
		c.p.noteFence(err)
	}
	return nil, err
}

// after applies the effects of a commit that is on disk: deletions, refolds and questions.
func (c *commit) after() {
	c.endRecalls()
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

// count updates the metrics for a written commit. duplicates is the number of its events that the store already had.
func (c *commit) count(duplicates int) {
	c.p.opts.Metrics.Recorded.Add(float64(len(c.batch.Events) - duplicates))
	c.p.opts.Metrics.Duplicates.Add(float64(c.skipped() + duplicates))
}

// publish notifies the sinks of committed updates.
func (p *Pipeline) publish(updates []*store.Update) {
	for _, u := range updates {
		if u.Deleted {
			p.dropDeleted(u.Run.ID)
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
