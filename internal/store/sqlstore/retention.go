package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Size returns the approximate size of the records in bytes. It falls when runs are deleted, and Reclaim then frees the space on
// disk. For SQLite it is the number of used pages. For PostgreSQL it is the sum of the sizes of the events when they were
// written.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	if err := s.read.QueryRowContext(ctx, s.size).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("read the size of the store: %w", err)
	}
	return bytes, nil
}

// Reclaim frees the space of deleted runs on disk; PostgreSQL frees it for new rows. Commits wait for it.
func (s *Store) Reclaim(ctx context.Context) (err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return fmt.Errorf("reclaim space: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, statement := range s.reclaim {
		// SQLite frees one page for each row that is read.
		if failed := eachRow(ctx, conn, statement, nil, func(scanner) error { return nil }); failed != nil {
			err = errors.Join(err, fmt.Errorf("reclaim space: %w", failed))
		}
	}
	return err
}

// Oldest returns ids of runs that are not running, the least recently updated first.
func (s *Store) Oldest(ctx context.Context, limit int) ([]string, error) {
	return s.over(ctx, latest.Add(1), limit)
}

// OlderThan is Oldest for runs that were last updated before a time. PostgreSQL keeps runs for up to a quarter longer, two days at most, to
// delete the runs of a day together.
func (s *Store) OlderThan(ctx context.Context, before time.Time, limit int) ([]string, error) {
	if s.days != nil {
		return s.expiredRuns(ctx, before, limit)
	}
	return s.over(ctx, before, limit)
}

func (s *Store) over(ctx context.Context, before time.Time, limit int) ([]string, error) {
	query := `SELECT id FROM runs WHERE status <> 'running' AND updated < $1 ORDER BY updated, number LIMIT $2`
	ids, err := s.runIDs(ctx, query, toNanos(before), limit)
	if err != nil {
		return nil, fmt.Errorf("list the oldest ended runs: %w", err)
	}
	return ids, nil
}
