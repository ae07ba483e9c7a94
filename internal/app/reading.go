package app

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// reading is the store for those who answer questions: rows of runs are brought up to what was recorded before they are read.
// Where that cannot be, since the pipeline has too much to do or is closed, rows that lag a little are better than none.
type reading struct {
	*sqlstore.Store
	pipeline *pipeline.Pipeline
	mask     *mask.Masker
}

// flushTime is how long a question waits for the rows. A commit may wait longer, where another program holds the database's lock.
const flushTime = 2 * time.Second

func (r reading) flush(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = r.pipeline.Flush(bounded) // what is there is told then
}

// Run returns the run with the id, or nil. A run whose id holds a secret is found by the id that it was sent with, too.
func (r reading) Run(ctx context.Context, id string) (*store.Run, error) {
	r.flush(ctx)
	return r.Store.Run(ctx, r.mask.ID(id))
}

// Runs returns a page of runs.
func (r reading) Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error) {
	r.flush(ctx)
	return r.Store.Runs(ctx, f, o, p)
}

// RunsSince returns the runs that went on behind an arrival.
func (r reading) RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error) {
	r.flush(ctx)
	return r.Store.RunsSince(ctx, arrival, limit)
}

// Overview sums up runs.
func (r reading) Overview(ctx context.Context, q store.OverviewQuery) (store.Overview, error) {
	r.flush(ctx)
	return r.Store.Overview(ctx, q)
}
