package app

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/mask"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// flushedStore is the store for readers. It flushes the rows of runs before it reads them, so that they include all recorded
// events. If the flush takes longer than flushTime or the pipeline is closed, it reads older rows.
type flushedStore struct {
	*sqlstore.Store
	recorder recorder
	mask     *mask.Masker
}

// flushTime is the maximum wait for a flush. A commit can take longer if another program holds the lock of the database.
const flushTime = 2 * time.Second

func (r flushedStore) flush(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	_ = r.recorder.Flush(bounded) // on an error, older rows are returned
}

// Run returns the run with the id, or nil. A masked id is also found by the original id.
func (r flushedStore) Run(ctx context.Context, id string) (*store.Run, error) {
	r.flush(ctx)
	return r.Store.Run(ctx, r.mask.ID(id))
}

// Runs returns a page of runs.
func (r flushedStore) Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error) {
	r.flush(ctx)
	return r.Store.Runs(ctx, f, o, p)
}

// CountRuns returns the number of runs that the filter selects.
func (r flushedStore) CountRuns(ctx context.Context, f store.Filter) (int, error) {
	r.flush(ctx)
	return r.Store.CountRuns(ctx, f)
}

// RunsSince returns the runs that changed after an arrival.
func (r flushedStore) RunsSince(ctx context.Context, arrival int64, limit int) ([]store.Run, error) {
	r.flush(ctx)
	return r.Store.RunsSince(ctx, arrival, limit)
}

// Overview returns sums over runs.
func (r flushedStore) Overview(ctx context.Context, q store.OverviewQuery) (store.Overview, error) {
	r.flush(ctx)
	return r.Store.Overview(ctx, q)
}
