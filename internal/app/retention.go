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
