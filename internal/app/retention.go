package app

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop/internal/pipeline"
)

const (
	retainEvery = time.Minute    // interval between two checks
	ageBatch    = 100            // old runs deleted by one submission
	orphanAge   = 24 * time.Hour // age from which spans without a run are deleted
	sizeBatch   = 10             // runs deleted by one submission to reduce the size
)

// clock is the time for what cannot be undone. A clock of the day that is set forward must not delete runs, so its time counts only after it
// was kept for clockTrust. Its methods are for one goroutine.
type clock struct {
	now     func() time.Time     // the clock of the day
	elapsed func() time.Duration // of the running machine since the start of the server, whatever the clock of the day is set to

	known reading  // the latest one that counts
	ahead *reading // the first one of a clock of the day that was set forward; nil if it was not
}

// reading is a time of the clock of the day.
type reading struct {
	time    time.Time
	elapsed time.Duration // at the reading
}

// after returns the time at a later reading if the clock was not set.
func (r reading) after(elapsed time.Duration) time.Time { return r.time.Add(elapsed - r.elapsed) }

const (
	clockStep  = 7 * 24 * time.Hour // by which the clock of the day may be ahead without having been set: elapsed stands still in suspension
	clockTrust = 24 * time.Hour
)

func newClock() *clock {
	began := time.Now()
	return &clock{now: time.Now, elapsed: func() time.Duration { return time.Since(began) }, known: reading{time: began.Round(0)}}
}

// time returns the time, and whether the clock of the day has been set forward.
func (c *clock) time() (now time.Time, ahead bool) {
	r := reading{c.now().Round(0), c.elapsed()} // without the reading of the monotonic clock
	steady := c.known.after(r.elapsed)
	if r.time.Sub(steady) > clockStep {
		if c.ahead == nil || r.time.Sub(c.ahead.after(r.elapsed)).Abs() > clockStep {
			c.ahead = &r // the clock was set, again
		}
		if r.elapsed-c.ahead.elapsed < clockTrust {
			return steady, true
		}
	}
	c.known, c.ahead = r, nil
	return r.time, false
}

// retain deletes ended runs that are too old or take too much space, until ctx is done.
func (p *components) retain(ctx context.Context) error {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := p.retainNow(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("deleting old runs failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *components) retainNow(ctx context.Context) error {
	if !p.leads() {
		return nil
	}
	err := p.retainRuns(ctx)
	return errors.Join(err, p.store.Maintain(ctx, time.Now()))
}

func (p *components) retainRuns(ctx context.Context) error {
	known := p.clock.ahead != nil
	now, ahead := p.clock.time()
	if ahead && !known {
		p.log.Warn("the clock was set forward: runs are deleted by the time before it for a day", "time", now)
	}
	if err := p.store.DropOrphanSpans(ctx, now.Add(-orphanAge)); err != nil {
		return err
	}
	if age := time.Duration(p.config.Retention.Age); age > 0 {
		for {
			n, err := p.deleteRuns(ctx, func() ([]string, error) { return p.store.OlderThan(ctx, now.Add(-age), ageBatch) })
			if err != nil {
				return err
			}
			if n == 0 {
				break
			}
		}
	}
	return p.retainSize(ctx)
}

// retainSize deletes the oldest ended runs until the database is within its size.
func (p *components) retainSize(ctx context.Context) error {
	most := int64(p.config.Retention.Size)
	if most == 0 {
		return nil
	}
	for {
		size, err := p.store.Size(ctx)
		if err != nil || size <= most {
			return err
		}
		n, err := p.deleteRuns(ctx, func() ([]string, error) { return p.store.Oldest(ctx, sizeBatch) })
		if err != nil {
			return err
		}
		if n == 0 {
			p.log.Warn("the database is larger than retention.size, and no run has ended", "bytes", size, "retention", most)
			return nil
		}
		if err := p.store.Reclaim(ctx); err != nil {
			return err
		}
	}
}

// deleteRuns deletes the runs that find returns, and returns their number.
func (p *components) deleteRuns(ctx context.Context, find func() ([]string, error)) (int, error) {
	ids, err := find()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := p.recorder.Submit(ctx, &pipeline.Submission{Deleted: ids}); err != nil {
		return 0, err
	}
	p.log.Info("deleted old runs", "runs", len(ids))
	return len(ids), nil
}
