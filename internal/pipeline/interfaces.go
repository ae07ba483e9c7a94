package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Store is where a pipeline records runs and reads those that are not in memory. Only one pipeline writes to a store at a time,
// and it commits from one goroutine at a time.
type Store interface {
	// Last returns the highest arrival and the highest number of a run; 0 for none.
	Last(ctx context.Context) (arrival, run int64, err error)
	// FirstNumber returns a number that runs created at a time have at least: a multiple of 2^32.
	FirstNumber(created time.Time) int64
	// Run returns the run with the id, or nil.
	Run(ctx context.Context, id string) (*store.Run, error)
	// Checkpoints returns the run's checkpoints in the order of their positions.
	Checkpoints(ctx context.Context, run int64) ([]store.Checkpoint, error)
	// Events calls each for the events of the run after a position, in order. An event is valid until each returns. An error
	// of each ends the iteration and is returned.
	Events(ctx context.Context, run int64, behind store.Position, each func(*store.Event) error) error
	// NextEvents is Events for the first limit events.
	NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error
	// Furthest returns the position of the last event of the run, or the zero Position if there is none.
	Furthest(ctx context.Context, run int64) (store.Position, error)
	// Warnings returns all warnings of the run.
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	// Refolding returns the ids of the runs whose rows have a Refold.
	Refolding(ctx context.Context) ([]string, error)
	// Known returns the given ids that are ids of events of the run, with their positions.
	Known(ctx context.Context, run int64, ids []string) (map[string]store.Position, error)
	// Spans returns the trace's spans, in any order.
	Spans(ctx context.Context, trace string) ([]store.Span, error)
	// SharedTraces returns the traces that have events in the run and in another one.
	SharedTraces(ctx context.Context, run int64) ([]string, error)
	// Idle returns ids of running runs that were last updated before a time, the longest idle first.
	Idle(ctx context.Context, before time.Time, limit int) ([]string, error)
	// Unflushed returns the ids of the runs with events that were recorded after the latest Batch.Flushed.
	Unflushed(ctx context.Context) ([]string, error)
	// Commit writes the batch in one transaction, which is on disk when it returns. It leaves out and returns the events whose
	// id the run already has.
	Commit(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error)
	// CommitTogether writes batches in their order in one transaction, which is on disk when it returns. If a run already has the id
	// of an event, it writes nothing and returns store.ErrDuplicate.
	CommitTogether(ctx context.Context, batches []*store.Batch) error
}

// Sink receives updates after they are recorded. It must not block, and it must not modify them.
type Sink interface {
	Publish(u *store.Update)
}
