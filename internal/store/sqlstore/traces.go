package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

const traceColumns = "trace, run, received"

type traceKey struct {
	trace string
	run   int64
}

// traces records which traces have events in which runs.
func (w *writing) traces(ctx context.Context, traces []store.TraceRun) error {
	traces = lasts(traces, func(x *store.TraceRun) traceKey { return traceKey{store.Key(x.Trace), x.Run} })
	return insert(ctx, w, &w.bulks.traces, traces, func(to []any, x *store.TraceRun) []any {
		return append(to, store.Key(x.Trace), x.Run, toNanos(x.Received))
	}, nil)
}

// left removes links between traces and runs.
func (w *writing) left(ctx context.Context, left []store.TraceRun) error {
	for _, x := range left {
		err := w.exec(ctx, "unlink a trace from a run", `DELETE FROM traces WHERE trace = $1 AND run = $2`, store.Key(x.Trace), x.Run)
		if err != nil {
			return err
		}
	}
	return nil
}

// others selects the traces of a run that have, or do not have, events in another run.
func others(have string) string {
	return `SELECT trace FROM traces WHERE run = $1 AND ` + have + ` (
		SELECT 1 FROM traces AS other WHERE other.trace = traces.trace AND other.run <> traces.run AND other.run <> 0)`
}

// SharedTraces returns the traces that have events in the run and in another one, sorted.
func (s *Store) SharedTraces(ctx context.Context, run int64) ([]string, error) {
	ids, err := s.runIDs(ctx, others("EXISTS")+` ORDER BY trace`, run)
	if err != nil {
		return nil, fmt.Errorf("list the traces of several runs: %w", err)
	}
	return ids, nil
}

// deleteSpans deletes the spans of the traces without events in other runs.
func (w *writing) deleteSpans(ctx context.Context, run int64) error {
	for _, query := range []string{
		`DELETE FROM spans WHERE trace IN (` + others("NOT EXISTS") + `)`,
		`DELETE FROM traces WHERE run = 0 AND trace IN (` + others("NOT EXISTS") + `)`,
	} {
		if err := w.exec(ctx, "delete the spans of a run", query, run); err != nil {
			return err
		}
	}
	return nil
}

// DropOrphanSpans deletes the spans of traces without events whose latest span arrived before a time.
func (s *Store) DropOrphanSpans(ctx context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin to delete orphan spans: %w", err)
	}
	defer w.release()
	for _, query := range []string{
		`DELETE FROM spans WHERE trace IN (SELECT trace FROM traces WHERE run = 0 AND received < $1 AND NOT EXISTS (
			SELECT 1 FROM traces AS other WHERE other.trace = traces.trace AND other.run <> 0))`,
		`DELETE FROM traces WHERE run = 0 AND received < $1`,
	} {
		if err := w.exec(ctx, "delete orphan spans", query, toNanos(before)); err != nil {
			return errors.Join(err, w.tx.Rollback())
		}
	}
	if err := w.tx.Commit(); err != nil {
		return fmt.Errorf("commit the deletion of orphan spans: %w", err)
	}
	return nil
}
