package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
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

// byDay are the tables that have a partition for each day. The key of the partition is the number of a run.
var byDay = []string{"events", "search"}

// days are the days for which PostgreSQL's tables have partitions. The days are those on which the server created the runs.
type days struct {
	mu     sync.Mutex
	exist  map[int64]bool
	sought time.Time // the limit for which expired days were last looked for
}

// dayOf returns the day of a time, counted from 1970 in UTC.
func dayOf(t time.Time) int64 { return min(max(t.Unix()/(24*60*60), 0), maxDay) }

// startOf returns the time at which a day begins.
func startOf(day int64) time.Time { return time.Unix(day*24*60*60, 0).UTC() }

// partitionOf returns the name of the partition of a table for a day.
func partitionOf(table string, day int64) string { return table + startOf(day).Format("_20060102") }

// FirstNumber returns a number that runs created at a time have at least. In PostgreSQL the number of a run has the day on which it
// was created in its upper bits, so that its events are in the partition of that day.
func (s *Store) FirstNumber(created time.Time) int64 {
	if s.days == nil {
		return 0
	}
	return dayOf(created) << dayBits
}

// startDays finds out which partitions exist, and creates those that will be needed soon.
func (s *Store) startDays(ctx context.Context) error {
	if s.days == nil {
		return nil
	}
	all, err := dayTables(ctx, s.read)
	if err != nil {
		return err
	}
	tables := map[int64]int{}
	for _, p := range all {
		if p.attached && !p.pending {
			tables[p.day]++
		}
		s.days.exist[p.day] = tables[p.day] == len(byDay)
	}
	return s.createAhead(ctx, dayOf(time.Now()))
}

// createAhead creates the partitions of today and of the next days.
func (s *Store) createAhead(ctx context.Context, today int64) error {
	var missing []int64
	s.days.mu.Lock()
	for day := max(today, 1); day <= min(today+daysAhead, maxDay); day++ {
		if !s.days.exist[day] {
			missing = append(missing, day)
		}
	}
	s.days.mu.Unlock()
	if len(missing) == 0 {
		return nil
	}
	return s.transaction(ctx, func(w *writing) error {
		for _, day := range missing {
			if err := w.createPartitions(ctx, day); err != nil {
				return err
			}
		}
		return nil
	})
}

// Maintain creates the partitions of PostgreSQL that will be needed soon, and drops those of past days without runs. It does nothing for
// SQLite.
func (s *Store) Maintain(ctx context.Context, now time.Time) error {
	if s.days == nil {
		return nil
	}
	today := dayOf(now)
	if err := s.createAhead(ctx, today); err != nil {
		return err
	}
	return s.dropPartitions(ctx, today)
}

// provide creates the partitions that events need and that do not exist. It does so in the transaction, as part of which they disappear if it
// fails.
func (w *writing) provide(ctx context.Context, events []store.Event) error {
	if w.days == nil {
		return nil
	}
	last := int64(0)
	for k := range events {
		day := events[k].Run >> dayBits
		if day <= 0 || day == last {
			continue
		}
		if day > maxDay {
			return fmt.Errorf("write the events of run %d: its number must be below %d", events[k].Run, int64(maxDay+1)<<dayBits)
		}
		if err := w.createPartitions(ctx, day); err != nil {
			return err
		}
		last = day
	}
	return nil
}

// createPartitions creates the partitions of a day, unless they exist. Neither readers nor writers wait for its locks.
func (w *writing) createPartitions(ctx context.Context, day int64) error {
	w.days.mu.Lock()
	exist := w.days.exist[day]
	w.days.mu.Unlock()
	if exist || slices.Contains(w.newDays, day) {
		return nil
	}
	for _, table := range byDay {
		if err := attach(ctx, w.tx, table, day); err != nil {
			return fmt.Errorf("create the partition of %s for %s: %w", table, startOf(day).Format(time.DateOnly), err)
		}
	}
	w.newDays = append(w.newDays, day)
	return nil
}

// remember notes which partitions exist, after the transaction that created them.
func (w *writing) remember() {
	if len(w.newDays) == 0 {
		return
	}
	w.days.mu.Lock()
	defer w.days.mu.Unlock()
	for _, day := range w.newDays {
		w.days.exist[day] = true
	}
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

// dayTable is a partition of a day, or what is left of one.
type dayTable struct {
	name, table string
	day         int64
	attached    bool
	pending     bool // it was to be detached, but the statement did not end
}

func dayTables(ctx context.Context, q querier) (all []dayTable, err error) {
	err = eachRow(ctx, q, `SELECT CAST(c.relname AS TEXT), i.inhrelid IS NOT NULL, COALESCE(i.inhdetachpending, false)
		FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
		WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) AND c.relkind = 'r'
		AND c.relname ~ '^(events|search)_[0-9]{8}$' ORDER BY c.relname`, nil, func(row scanner) error {
		var p dayTable
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
		return nil, fmt.Errorf("list the partitions of days: %w", err)
	}
	return all, nil
}

// dropPartitions drops the partitions of days without runs. It spares yesterday's, because a commit that creates a run of that day may be
// under way. Readers and writers do not wait, but it waits for the transactions that began before it. If another server is at it, it does
// nothing.
func (s *Store) dropPartitions(ctx context.Context, today int64) (err error) {
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to drop partitions: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	var locked bool
	err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1, hashtext(current_schema() || '.days'))`, lockClass).Scan(&locked)
	if err != nil || !locked {
		return err
	}
	defer func() {
		_, failed := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1, hashtext(current_schema() || '.days'))`, lockClass)
		err = errors.Join(err, failed)
	}()
	all, err := dayTables(ctx, conn)
	if err != nil {
		return err
	}
	for _, p := range all {
		if p.day >= today-1 {
			continue
		}
		used, err := hasRuns(ctx, conn, p.day, "")
		if err != nil {
			return err
		}
		if used {
			continue
		}
		if err := s.dropPartition(ctx, conn, p); err != nil {
			return fmt.Errorf("drop the partition %s: %w", p.name, err)
		}
	}
	return nil
}

func (s *Store) dropPartition(ctx context.Context, conn *sql.Conn, p dayTable) error {
	s.days.mu.Lock()
	delete(s.days.exist, p.day)
	s.days.mu.Unlock()
	detach := fmt.Sprintf(`ALTER TABLE %s DETACH PARTITION %s `, p.table, p.name)
	switch {
	case p.pending:
		if _, err := conn.ExecContext(ctx, detach+`FINALIZE`); err != nil {
			return err
		}
	case p.attached:
		if _, err := conn.ExecContext(ctx, detach+`CONCURRENTLY`); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, `DROP TABLE IF EXISTS `+p.name)
	return err
}

// hasRuns reports whether there is a run of a day for which a further condition holds; "" for none.
func hasRuns(ctx context.Context, q querier, day int64, condition string, args ...any) (has bool, err error) {
	query := `SELECT EXISTS (SELECT 1 FROM runs WHERE number >= $1 AND number < $2` + condition + `)`
	err = eachRow(ctx, q, query, append([]any{day << dayBits, (day + 1) << dayBits}, args...), func(row scanner) error { return row.Scan(&has) })
	if err != nil {
		return false, fmt.Errorf("look for runs of %s: %w", startOf(day).Format(time.DateOnly), err)
	}
	return has, nil
}
