package sqlstore

import (
	"context"
	"fmt"
	"strconv"
)

// flushed records the arrival up to which the rows of all runs are current.
func (w *writing) flushed(ctx context.Context, arrival int64) error {
	if arrival == 0 {
		return nil
	}
	return w.exec(ctx, "write the arrival of the last flush", `INSERT INTO settings (name, value) VALUES ('flushed', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(strconv.FormatInt(arrival, 10)))
}

// Unflushed returns the ids of the runs with events that were recorded after the latest Batch.Flushed.
func (s *Store) Unflushed(ctx context.Context) (ids []string, err error) {
	var text []byte
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE((SELECT value FROM settings WHERE name = 'flushed'), $1)`, []byte("0")).Scan(&text)
	if err != nil {
		return nil, fmt.Errorf("read the arrival of the last flush: %w", err)
	}
	arrival, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read the arrival of the last flush: %w", err)
	}
	return s.runIDs(ctx, `SELECT id FROM runs WHERE number IN (SELECT run FROM events WHERE arrival > $1) ORDER BY number`, arrival)
}
