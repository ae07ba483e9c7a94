package app

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/pipeline"
)

const (
	retainEvery = time.Minute    // how often it is seen to what is too old or too much
	retainOnce  = 100            // old runs that are deleted at once
	strayAge    = 24 * time.Hour // of spans that tell nothing by themselves
	retainFew   = 10             // the same where no more than needed is to go
)

// retain deletes runs that are over, when they are too old or take too much, until ctx is done.
func (p *components) retain(ctx context.Context) error {
	tick := time.NewTicker(retainEvery)
	defer tick.Stop()
	for {
		if err := p.retainNow(ctx); err != nil && ctx.Err() == nil {
			p.log.Error("deleting old runs did not succeed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (p *components) retainNow(ctx context.Context) error {
	if err := p.store.DropOrphanSpans(ctx, time.Now().Add(-strayAge)); err != nil {
		return err
	}
	if age := time.Duration(p.config.Retention.Age); age > 0 {
		for {
			n, err := p.forget(ctx, func() ([]string, error) { return p.store.OlderThan(ctx, time.Now().Add(-age), retainOnce) })
			if err != nil {
				return err
			}
			if n < retainOnce {
				break
			}
		}
	}
	return p.retainSize(ctx)
}

// retainSize deletes the oldest runs that are over until the database is within its size.
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
		n, err := p.forget(ctx, func() ([]string, error) { return p.store.Oldest(ctx, retainFew) })
		if err != nil {
			return err
		}
		if n == 0 {
			p.log.Warn("the database is larger than retention.size, and all its runs are running", "bytes", size, "retention", most)
			return nil
		}
		if err := p.store.Reclaim(ctx); err != nil {
			return err
		}
	}
}

// forget has runs deleted and returns how many.
func (p *components) forget(ctx context.Context, find func() ([]string, error)) (int, error) {
	ids, err := find()
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	if _, err := p.pipeline.Submit(ctx, &pipeline.Submission{Deleted: ids}); err != nil {
		return 0, err
	}
	p.log.Info("deleted old runs", "runs", len(ids))
	return len(ids), nil
}
