package sqlstore

import (
	"context"
	"maps"
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
		s.partitions.mu.Lock()
		delete(s.partitions.expired, days[0]) // all are deleted, or one has resumed
		s.partitions.mu.Unlock()
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

// expiredDays returns the days whose runs have all ended before a time, the earliest first.
func (s *Store) expiredDays(ctx context.Context, before time.Time) ([]int64, error) {
	known, seek := s.knownExpired(before)
	if len(known) > 0 || !seek {
		return known, nil
	}
	all, err := s.listPartitions(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.table != partitioned[0] || startOf(p.day+1).After(before) {
			continue
		}
		used, err := s.hasRuns(ctx, p.day, "")
		if err != nil || !used { // Maintain drops it
			if err != nil {
				return nil, err
			}
			continue
		}
		young, err := s.hasRuns(ctx, p.day, ` AND (status = 'running' OR updated >= $3)`, toNanos(before))
		if err != nil {
			return nil, err
		}
		if !young {
			s.partitions.mu.Lock()
			s.partitions.expired[p.day] = true
			s.partitions.mu.Unlock()
		}
	}
	known, _ = s.knownExpired(before)
	return known, nil
}

// knownExpired returns the days that are known to be expired, and whether others are to be looked for.
func (s *Store) knownExpired(before time.Time) (days []int64, seek bool) {
	p := s.partitions
	p.mu.Lock()
	defer p.mu.Unlock()
	days = slices.Sorted(maps.Keys(p.expired))
	if seek = before.Sub(p.sought).Abs() >= seekEvery; seek && len(days) == 0 {
		p.sought = before
	}
	return days, seek
}

// expiring reports whether the events of the run are deleted with their partition.
func (s *Store) expiring(run int64) bool {
	if s.partitions == nil {
		return false
	}
	s.partitions.mu.Lock()
	defer s.partitions.mu.Unlock()
	return s.partitions.expired[run>>dayBits]
}
