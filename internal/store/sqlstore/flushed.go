package sqlstore

import (
	"context"
	"fmt"
	"strconv"
)

// flushed notes that the rows of all runs are up to their events, up to an arrival.
func (w *writing) flushed(ctx context.Context, arrival int64) error {
	if arrival == 0 {
		return nil
	}
	return w.exec(ctx, "note what is written", `INSERT INTO settings (name, value) VALUES ('flushed', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(strconv.FormatInt(arrival, 10)))
}

// Unflushed returns the ids of the runs of which events were recorded since the last batch that was Flushed.
func (s *Store) Unflushed(ctx context.Context) (ids []string, err error) {
	var text []byte
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE((SELECT value FROM settings WHERE name = 'flushed'), $1)`, []byte("0")).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("read what is written: %w", err)
	}
	arrival, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read what is written: %w", err)
	}
	return s.runIDs(ctx, `SELECT id FROM runs WHERE number IN (SELECT run FROM events WHERE arrival > $1) ORDER BY number`, arrival)
}
