package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/unloop-ai/unloop/internal/store"
)

// worthCopy is the number of events from which COPY is cheaper than INSERT.
const worthCopy = 64

// uniqueViolation is PostgreSQL's code for a row whose key is there.
const uniqueViolation = "23505"

// copyEvents writes events with PostgreSQL's COPY, and reports whether it did. COPY cannot skip a row, so it writes nothing if the run
// of an event already has its id.
func (w *writing) copyEvents(ctx context.Context, events []store.Event) (bool, error) {
	if w.conn == nil || len(events) < worthCopy {
		return false, nil
	}
	if err := w.exec(ctx, "prepare to copy events", `SAVEPOINT copying`); err != nil {
		return false, err
	}
	rows := pgx.CopyFromSlice(len(events), func(k int) ([]any, error) {
		return w.eventArguments(make([]any, 0, 9), &events[k]), nil
	})
	err := w.conn.Raw(func(driver any) error {
		_, err := driver.(*stdlib.Conn).Conn().CopyFrom(ctx, pgx.Identifier{"events"}, strings.Split(eventColumns, ", "), rows)
		return err
	})
	if failure := (*pgconn.PgError)(nil); errors.As(err, &failure) && failure.Code == uniqueViolation {
		return false, w.exec(ctx, "undo copying events", `ROLLBACK TO SAVEPOINT copying`)
	}
	if err != nil {
		return false, fmt.Errorf("copy %d events: %w", len(events), err)
	}
	return true, w.exec(ctx, "finish copying events", `RELEASE SAVEPOINT copying`)
}

// beginOn begins a transaction on a connection that can copy.
func (s *Store) beginOn(ctx context.Context) (*sql.Conn, *sql.Tx, error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return conn, tx, nil
}
