package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

// writing is a commit in progress.
type writing struct {
	*Store
	tx   *sql.Tx
	conn *sql.Conn // of tx, where it can copy; nil elsewhere

	newDays []int64 // for which it creates partitions
	expired []int64 // days whose events are deleted with their partitions
}

// Commit writes the batch as one transaction, which is on disk when Commit returns. It skips and returns the events whose id the run
// already has under another arrival. Of runs, warnings and other rows with the same key in one batch, the last is kept. After an error
// nothing is written. There is one exception: if the connection to PostgreSQL is lost during the final commit, the outcome is unknown,
// and the batch can be committed again. If a SQLite file was deleted or replaced, this and every later error is store.ErrMoved.
func (s *Store) Commit(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	err = s.transaction(ctx, func(w *writing) error {
		duplicates, err = w.batch(ctx, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	return duplicates, nil
}

// CommitTogether writes batches in their order as one transaction, as Commit writes one. If the run of an event already has its id, it
// writes nothing and returns store.ErrDuplicate.
func (s *Store) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	return s.transaction(ctx, func(w *writing) error {
		for _, b := range batches {
			duplicates, err := w.batch(ctx, b)
			if err != nil {
				return err
			}
			if len(duplicates) > 0 {
				return store.ErrDuplicate
			}
		}
		return nil
	})
}

// transaction commits what write writes, unless that fails.
func (s *Store) transaction(ctx context.Context, write func(w *writing) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.intact(); err != nil {
		return fmt.Errorf("begin a commit: %w", err)
	}
	w, err := s.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin a commit: %w", err)
	}
	defer w.release()
	tx := w.tx
	err = write(w)
	clear(s.scratch)
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("finish a commit: %w", err)
	}
	w.remember()
	if err := s.intact(); err != nil { // it may have been written to a deleted file
		return fmt.Errorf("finish a commit: %w", err)
	}
	return nil
}

// begin begins a transaction. An idle connection that was lost fails here, and the second attempt opens a new one.
func (s *Store) begin(ctx context.Context) (*writing, error) {
	w := &writing{Store: s}
	try := func() (err error) {
		if s.copies {
			w.conn, w.tx, err = s.beginOn(ctx)
			return err
		}
		w.tx, err = s.write.BeginTx(ctx, nil)
		return err
	}
	err := try()
	if err != nil && ctx.Err() == nil {
		err = try()
	}
	return w, err
}

// release gives the connection back after the end of the transaction.
func (w *writing) release() {
	if w.conn != nil {
		_ = w.conn.Close() // the error is that the connection was lost, which the transaction said
	}
}

// batch writes the batch.
func (w *writing) batch(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	for _, step := range []func() error{
		func() error { return w.spans(ctx, b.Spans) },
		func() error { return w.traces(ctx, b.Traces) },
		func() error { return w.left(ctx, b.Left) },
		func() error { return w.deleted(ctx, b.Deleted, b.Emptied) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	if duplicates, err = w.changeEvents(ctx, b); err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return w.analyses(ctx, b.Analyses) },
		func() error { return w.runs(ctx, b.Runs) },
		func() error { return w.invalidate(ctx, b.Invalidated) },
		func() error { return w.warnings(ctx, b.Warnings) },
		func() error { return w.decisions(ctx, b.Decisions) },
		func() error { return w.notices(ctx, b.Notices) },
		func() error { return w.checkpoints(ctx, b.Checkpoints) },
		func() error { return w.prune(ctx, b.Pruned) },
		func() error { return w.flushed(ctx, b.Flushed) },
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return duplicates, nil
}

// changeEvents removes, changes and adds events. It returns the added ones that their runs already have.
func (w *writing) changeEvents(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	removed, changed, added := w.divide(b)
	if err := w.remove(ctx, removed); err != nil {
		return nil, err
	}
	if err := w.change(ctx, changed); err != nil {
		return nil, err
	}
	if err := w.provide(ctx, added); err != nil {
		return nil, err
	}
	return w.events(ctx, added)
}

// exec runs a statement of the commit.
func (w *writing) exec(ctx context.Context, doing, query string, args ...any) error {
	if _, err := w.tx.ExecContext(ctx, query, args...); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// deleted deletes runs with their records. It also deletes the spans of traces without another run, unless the run is only
// emptied.
func (w *writing) deleted(ctx context.Context, deleted, emptied []int64) error {
	if len(deleted)+len(emptied) == 0 {
		return nil
	}
	if err := w.findExpired(ctx); err != nil {
		return err
	}
	for _, run := range deleted {
		if err := w.deleteSpans(ctx, run); err != nil {
			return err
		}
		if err := w.deleteRuns(ctx, run); err != nil {
			return err
		}
	}
	for _, run := range emptied {
		if err := w.deleteRuns(ctx, run); err != nil {
			return err
		}
	}
	return nil
}

// deleteRuns deletes a run with the records that belong only to it.
func (w *writing) deleteRuns(ctx context.Context, run int64) error {
	for _, query := range []string{
		`DELETE FROM deliveries WHERE run = $1`,
		`DELETE FROM shadow_verdicts WHERE run = $1`,
		`DELETE FROM labels WHERE run = $1`,
		`DELETE FROM acknowledgements WHERE run = $1`,
		`DELETE FROM warnings WHERE run = $1`,
		`DELETE FROM decisions WHERE run = $1`,
		`DELETE FROM checkpoints WHERE run = $1`,
		`DELETE FROM traces WHERE run = $1`,
		`DELETE FROM runs WHERE number = $1`,
	} {
		if err := w.exec(ctx, "delete a run", query, run); err != nil {
			return err
		}
	}
	if w.expiring(run) {
		return nil
	}
	if err := w.exec(ctx, "delete the events of a run", `DELETE FROM events WHERE run = $1`, run); err != nil {
		return err
	}
	return w.unindexRun(ctx, run)
}

// invalidate deletes the decisions and checkpoints after a position, and all warnings of the run.
func (w *writing) invalidate(ctx context.Context, invalidated []store.Invalidated) error {
	for _, u := range invalidated {
		p := u.Behind
		for _, stmt := range w.bulks.invalidate {
			if _, err := w.tx.StmtContext(ctx, stmt).ExecContext(ctx, u.Run, p.Sequence, p.Time, p.Tie); err != nil {
				return fmt.Errorf("undo decisions and checkpoints: %w", err)
			}
		}
		if _, err := w.tx.StmtContext(ctx, w.bulks.unwarned).ExecContext(ctx, u.Run); err != nil {
			return fmt.Errorf("delete invalid warnings: %w", err)
		}
	}
	return nil
}
