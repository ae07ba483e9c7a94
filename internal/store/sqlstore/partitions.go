package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

const (
	dayBits   = 32        // of a run's number, below the day on which the server created the run
	maxDay    = 1<<16 - 1 // in the year 2149
	daysAhead = 2         // partitions that exist before they are needed
)

// partitioned are the tables that have a partition for each day, whose key is the number of a run.
var partitioned = []string{"events", "search"}

// partitions are the partitions of PostgreSQL's tables by the day on which the run of an event was created.
type partitions struct {
	mu      sync.Mutex
	exist   map[int64]bool // by day
	expired map[int64]bool // days whose events are deleted with the partition, once retention has deleted their runs
	sought  time.Time      // the limit for which expired days were last looked for
}

// dayOf returns the day of a time, counted from 1970 in UTC.
func dayOf(t time.Time) int64 { return min(max(t.Unix()/(24*60*60), 0), maxDay) }

// startOf returns the time at which a day begins.
func startOf(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }

// partitionOf returns the name of the partition of a table for a day.
func partitionOf(table string, day int64) string { return table + startOf(day).Format("_20060102") }

// FirstNumber returns the lowest number of a run that is created at a time. In PostgreSQL the number of a run has the day on which it
// was created in its upper bits, so that its events are in the partition of that day.
func (s *Store) FirstNumber(created time.Time) int64 {
	if s.partitions == nil {
		return 1
	}
	return max(1, dayOf(created)<<dayBits)
}

// startPartitions finds out which partitions exist, and creates those that will be needed soon.
func (s *Store) startPartitions(ctx context.Context) error {
	if s.partitions == nil {
		return nil
	}
	all, err := s.listPartitions(ctx)
	if err != nil {
		return err
	}
	tables := map[int64]int{}
	for _, p := range all {
		if p.attached && !p.pending {
			tables[p.day]++
		}
		s.partitions.exist[p.day] = tables[p.day] == len(partitioned)
	}
	return s.createAhead(ctx, dayOf(time.Now()))
}

func (s *Store) createAhead(ctx context.Context, today int64) error {
	for day := max(today, 1); day <= min(today+daysAhead, maxDay); day++ {
		if err := s.createPartition(ctx, day); err != nil {
			return err
		}
	}
	return nil
}

// Maintain creates the partitions of PostgreSQL that will be needed soon, and drops those of past days without runs. It does nothing for
// SQLite.
func (s *Store) Maintain(ctx context.Context, now time.Time) error {
	if s.partitions == nil {
		return nil
	}
	today := dayOf(now)
	if err := s.createAhead(ctx, today); err != nil {
		return err
	}
	return s.dropPartitions(ctx, today)
}

// provide creates the partitions that the events of a batch need and that do not exist. A commit that fails leaves empty ones behind.
func (s *Store) provide(ctx context.Context, b *store.Batch) error {
	if s.partitions == nil {
		return nil
	}
	last := int64(0)
	for k := range b.Events {
		day := b.Events[k].Run >> dayBits
		if day <= 0 || day == last {
			continue
		}
		if day > maxDay {
			return fmt.Errorf("write the events of run %d: its number must be below %d", b.Events[k].Run, int64(maxDay+1)<<dayBits)
		}
		if err := s.createPartition(ctx, day); err != nil {
			return err
		}
		last = day
	}
	return nil
}

// createPartition creates the partitions of a day, unless they exist. Neither readers nor writers wait for its locks.
func (s *Store) createPartition(ctx context.Context, day int64) (err error) {
	s.partitions.mu.Lock()
	defer s.partitions.mu.Unlock()
	if s.partitions.exist[day] {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("create the partition of %s: %w", startOf(day).Format(time.DateOnly), err)
		}
	}()
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, table := range partitioned {
		if err := attach(ctx, tx, table, day); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.partitions.exist[day] = true
	return nil
}

// attach creates the partition of a table for a day. The lock keeps other servers from creating it at the same time. A new table is attached to
// the existing one, because to create it as a partition would lock out readers and writers.
func attach(ctx context.Context, tx *sql.Tx, table string, day int64) error {
	if _, err := tx.ExecContext(ctx, `LOCK TABLE ONLY `+table+` IN SHARE UPDATE EXCLUSIVE MODE`); err != nil {
		return err
	}
	name, attached := partitionOf(table, day), false
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_inherits WHERE inhparent = to_regclass($1) AND inhrelid = to_regclass($2))`,
		table, name).Scan(&attached)
	if err != nil || attached {
		return err
	}
	for _, statement := range []string{
		fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s (LIKE %s INCLUDING DEFAULTS)`, name, table),
		// The whole table cannot have a unique index without its partition key.
		fmt.Sprintf(`CREATE UNIQUE INDEX IF NOT EXISTS %s_arrival ON %[1]s (arrival)`, name),
		fmt.Sprintf(`ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%d) TO (%d)`, table, name, day<<dayBits, (day+1)<<dayBits),
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// partition is an existing partition, or what is left of one.
type partition struct {
	name, table string
	day         int64
	attached    bool
	pending     bool // it was to be detached, but the statement did not end
}

func (s *Store) listPartitions(ctx context.Context) (all []partition, err error) {
	err = s.each(ctx, `SELECT CAST(c.relname AS TEXT), i.inhrelid IS NOT NULL, COALESCE(i.inhdetachpending, false)
		FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
		WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND c.relkind = 'r'
		AND c.relname ~ '^(events|search)_[0-9]{8}$' ORDER BY c.relname`, nil, func(row scanner) error {
		var p partition
		if err := row.Scan(&p.name, &p.attached, &p.pending); err != nil {
			return err
		}
		table, date, _ := strings.Cut(p.name, "_")
		start, err := time.Parse("20060102", date)
		if err != nil {
			return nil //nolint:nilerr // a table of somebody else
		}
		p.table, p.day = table, dayOf(start)
		all = append(all, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the partitions: %w", err)
	}
	return all, nil
}

// dropPartitions drops the partitions of days without runs. It spares yesterday's, because a commit that creates a run of that day may be
// under way. Readers and writers do not wait, but it waits for the transactions that began before it.
func (s *Store) dropPartitions(ctx context.Context, today int64) error {
	all, err := s.listPartitions(ctx)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.day >= today-1 {
			continue
		}
		used, err := s.hasRuns(ctx, p.day, "")
		if err != nil {
			return err
		}
		if used {
			continue
		}
		if err := s.dropPartition(ctx, p); err != nil {
			return fmt.Errorf("drop the partition %s: %w", p.name, err)
		}
	}
	return nil
}

func (s *Store) dropPartition(ctx context.Context, p partition) error {
	s.partitions.mu.Lock()
	delete(s.partitions.exist, p.day)
	delete(s.partitions.expired, p.day)
	s.partitions.mu.Unlock()
	detach := fmt.Sprintf(`ALTER TABLE %s DETACH PARTITION %s `, p.table, p.name)
	switch {
	case p.pending:
		if _, err := s.read.ExecContext(ctx, detach+`FINALIZE`); err != nil {
			return err
		}
	case p.attached:
		if _, err := s.read.ExecContext(ctx, detach+`CONCURRENTLY`); err != nil {
			return err
		}
	}
	_, err := s.read.ExecContext(ctx, `DROP TABLE IF EXISTS `+p.name)
	return err
}

// hasRuns reports whether there is a run of a day for which a further condition holds; "" for none.
func (s *Store) hasRuns(ctx context.Context, day int64, condition string, args ...any) (has bool, err error) {
	query := `SELECT EXISTS (SELECT 1 FROM runs WHERE number >= $1 AND number < $2` + condition + `)`
	err = s.read.QueryRowContext(ctx, query, append([]any{day << dayBits, (day + 1) << dayBits}, args...)...).Scan(&has)
	if err != nil {
		return false, fmt.Errorf("look for runs of %s: %w", startOf(day).Format(time.DateOnly), err)
	}
	return has, nil
}
