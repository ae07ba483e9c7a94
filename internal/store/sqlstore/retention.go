package sqlstore

import (
	"context"
	"fmt"
	"time"
)

// Size returns about how many bytes the store holds. It falls as runs are deleted, while the room on the disk is given back by
// Reclaim. In SQLite it is exact to a page; in PostgreSQL it is what the events took when they were written, summed over all runs.
func (s *Store) Size(ctx context.Context) (bytes int64, err error) {
	if err := s.read.QueryRowContext(ctx, s.size).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("measure the store: %w", err)
	}
	return bytes, nil
}

// Reclaim gives room that deleted runs have left back to the disk, or in PostgreSQL to new rows. Commits wait meanwhile.
func (s *Store) Reclaim(ctx context.Context) error {
	for _, statement := range s.reclaim {
		if err := s.reclaimBy(ctx, statement); err != nil {
			return fmt.Errorf("reclaim room: %w", err)
		}
	}
	return nil
}

// reclaimBy runs a statement to its end: SQLite's gives a page back for each row that is asked for.
func (s *Store) reclaimBy(ctx context.Context, statement string) error {
	return eachRow(ctx, s.write, statement, nil, func(scanner) error { return nil })
}

// Oldest returns ids of runs that are not running, those first that were updated longest ago.
func (s *Store) Oldest(ctx context.Context, limit int) ([]string, error) {
	return s.over(ctx, latest.Add(1), limit)
}

// OlderThan returns what Oldest does, of runs that were updated last before a time.
func (s *Store) OlderThan(ctx context.Context, before time.Time, limit int) ([]string, error) {
	return s.over(ctx, before, limit)
}

func (s *Store) over(ctx context.Context, before time.Time, limit int) ([]string, error) {
	query := `SELECT id FROM runs WHERE status <> 'running' AND updated < $1 ORDER BY updated, number LIMIT $2`
	ids, err := s.runIDs(ctx, query, toNanos(before), limit)
	if err != nil {
		return nil, fmt.Errorf("list the runs that were over first: %w", err)
	}
	return ids, nil
}
