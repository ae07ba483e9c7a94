package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Store is where a pipeline records, and from where it takes up again what it does not hold. One pipeline writes to a store at
// a time. Commit is called by one goroutine.
type Store interface {
	// Last returns the highest arrival and the highest number of a run; 0 for none.
	Last(ctx context.Context) (arrival, run int64, err error)
	// Run returns the run with the id, or nil.
	Run(ctx context.Context, id string) (*store.Run, error)
	// Checkpoints returns the run's checkpoints in the order of their positions.
	Checkpoints(ctx context.Context, run int64) ([]store.Checkpoint, error)
	// Events hands over the run's events behind a position, in their order. The event is valid until each returns; each's
	// error ends it and is returned.
	Events(ctx context.Context, run int64, behind store.Position, each func(*store.Event) error) error
	// NextEvents hands over what Events does, the first so many of them.
	NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error
	// Furthest returns the position of the run's last event; the zero Position for none.
	Furthest(ctx context.Context, run int64) (store.Position, error)
	// Warnings returns all warnings of the run.
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	// Refolding returns the ids of the runs whose rows have a Refold.
	Refolding(ctx context.Context) ([]string, error)
	// Known returns those of the ids that are ids of the run's events, with their positions.
	Known(ctx context.Context, run int64, ids []string) (map[string]store.Position, error)
	// Spans returns the trace's spans, in any order.
	Spans(ctx context.Context, trace string) ([]store.Span, error)
	// SharedTraces returns the traces that have events in the run and in another one.
	SharedTraces(ctx context.Context, run int64) ([]string, error)
	// Idle returns ids of runs that are running and were last updated before a time, the longest idle first.
	Idle(ctx context.Context, before time.Time, limit int) ([]string, error)
	// Unflushed returns the ids of the runs of which events were recorded since the last batch that was Flushed.
	Unflushed(ctx context.Context) ([]string, error)
	// Commit writes the batch as one transaction that is on disk when it returns. Events whose id the run has already are left
	// out, and returned.
	Commit(ctx context.Context, b *store.Batch) (doubled []store.EventRef, err error)
}

// Sink takes what was recorded, after it was. It must not block, and must not change what it is given.
type Sink interface {
	Publish(u *store.Update)
}
