package httpd

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// fresh is a store whose rows of runs are brought up to what was recorded before they are read. Where that cannot be, since the
// pipeline has too much to do or is closed, rows that lag a little are better than none.
type fresh struct {
	Store
	pipeline Pipeline
}

func (f fresh) Run(ctx context.Context, id string) (*store.Run, error) {
	_ = f.pipeline.Flush(ctx)
	return f.Store.Run(ctx, id)
}

func (f fresh) Runs(ctx context.Context, filter store.Filter, p store.Page) (runs []store.Run, next string, err error) {
	_ = f.pipeline.Flush(ctx)
	return f.Store.Runs(ctx, filter, p)
}

func (f fresh) RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error) {
	_ = f.pipeline.Flush(ctx)
	return f.Store.RunsSince(ctx, arrival, limit)
}

func (f fresh) Fleet(ctx context.Context, since, until time.Time, step time.Duration) (store.Fleet, error) {
	_ = f.pipeline.Flush(ctx)
	return f.Store.Fleet(ctx, since, until, step)
}
