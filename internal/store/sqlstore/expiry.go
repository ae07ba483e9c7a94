package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// seekEvery is the least time between two searches for expired days, which read the rows of the runs of some days.
const seekEvery = time.Minute

// expiredRuns is OlderThan for PostgreSQL. It returns the runs of days all of whose runs are old, and then those that are older still:
// without them, most of the runs of a day would be deleted one by one before the day has expired.
func (s *Store) expiredRuns(ctx context.Context, before time.Time, limit int) ([]string, error) {
	for {
		days, err := s.expiredDays(ctx, before)
		if err != nil {
			return nil, err
		}
		if len(days) == 0 {
			return s.expiredAlone(ctx, before, limit)
		}
		query := `SELECT id FROM runs WHERE number >= $1 AND number < $2 AND status <> 'running' AND updated < $3 ORDER BY number LIMIT $4`
		ids, err := s.runIDs(ctx, query, days[0]<<dayBits, (days[0]+1)<<dayBits, toNanos(before), limit)
		if err != nil || len(ids) > 0 {
			return ids, err
		}
		if err := s.setExpired(ctx, days[1:]); err != nil { // all are deleted, or some have resumed
			return nil, err
		}
	}
}

// expiredAlone returns the runs without a day that are old, and then those with a day whose additional time has passed.
func (s *Store) expiredAlone(ctx context.Context, before time.Time, limit int) ([]string, error) {
	query := `SELECT id FROM runs WHERE number < $1 AND status <> 'running' AND updated < $2 ORDER BY updated, number LIMIT $3`
	ids, err := s.runIDs(ctx, query, int64(1)<<dayBits, toNanos(before), limit)
	if err != nil || len(ids) > 0 {
		return ids, err
	}
	return s.over(ctx, before.Add(-grace(time.Since(before))), limit)
}

// grace returns how much older than an age a run gets before it is deleted by itself.
func grace(age time.Duration) time.Duration { return min(age/4, 48*time.Hour) }

// expiredDays returns the days whose runs have all ended before a time, the earliest first. It looks for further ones if it knows none.
func (s *Store) expiredDays(ctx context.Context, before time.Time) ([]int64, error) {
	known, err := expired(ctx, s.read)
	if err != nil || len(known) > 0 || !s.seekDays(before) {
		return known, err
	}
	all, err := dayTables(ctx, s.read)
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, p := range all {
		if p.table != byDay[0] || startOf(p.day+1).After(before) {
			continue
		}
		used, err := hasRuns(ctx, s.read, p.day, "")
		if err != nil {
			return nil, err
		}
		young, err := hasRuns(ctx, s.read, p.day, ` AND (status = 'running' OR updated >= $3)`, toNanos(before))
		if err != nil {
			return nil, err
		}
		if used && !young { // Maintain drops unused ones
			found = append(found, p.day)
		}
	}
	if len(found) == 0 {
		return nil, nil
	}
	return found, s.setExpired(ctx, found)
}

// seekDays reports whether it is time to look for expired days.
func (s *Store) seekDays(before time.Time) bool {
	s.days.mu.Lock()
	defer s.days.mu.Unlock()
	if before.Sub(s.days.sought).Abs() < seekEvery {
		return false
	}
	s.days.sought = before
	return true
}

// expired returns the days whose runs retention deletes. Their events are deleted with the partitions. They are in the database, because
// the runs may be deleted by another server.
func expired(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (days []int64, err error) {
	var text []byte
	err = q.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'expired_days'`).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &days)
	}
	if err != nil {
		return nil, fmt.Errorf("read the expired days: %w", err)
	}
	return days, nil
}

func (s *Store) setExpired(ctx context.Context, days []int64) error {
	text, err := json.Marshal(days)
	if err == nil {
		_, err = s.write.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('expired_days', $1)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value`, text)
	}
	if err != nil {
		return fmt.Errorf("write the expired days: %w", err)
	}
	return nil
}

// findExpired reads the expired days before runs are deleted.
func (w *writing) findExpired(ctx context.Context) (err error) {
	if w.days != nil {
		w.expired, err = expired(ctx, w.tx)
	}
	return err
}

// expiring reports whether the events of the run are deleted with their partition.
func (w *writing) expiring(run int64) bool { return slices.Contains(w.expired, run>>dayBits) }
