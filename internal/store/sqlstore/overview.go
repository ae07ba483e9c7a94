package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Bounds of the lists of an overview.
const (
	maxLooping = 20
	maxSlowest = 10
)

// Overview summarizes the runs that started from since to before until, in buckets of a step. It reads all of them in one
// snapshot.
func (s *Store) Overview(ctx context.Context, since, until time.Time, step time.Duration) (f store.Overview, err error) {
	if !fits(since, until, step) {
		return f, fmt.Errorf("summarize runs from %v to %v by %v: %w", since, until, step, store.ErrBuckets)
	}
	tx, err := s.read.BeginTx(ctx, s.snapshot)
	if err != nil {
		return f, fmt.Errorf("begin an overview: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	f = store.Overview{Since: since, Until: until, Step: step}
	for start := since; start.Before(until); start = start.Add(step) {
		f.Buckets = append(f.Buckets, store.OverviewBucket{Start: start})
	}
	window := []any{toNanos(since), toNanos(until)}
	if err := buckets(ctx, tx, &f, window); err != nil {
		return f, fmt.Errorf("count runs by time: %w", err)
	}
	if err := totals(ctx, tx, &f, window); err != nil {
		return f, fmt.Errorf("sum the usage of runs: %w", err)
	}
	if f.Tools, err = looping(ctx, tx, "tool", "4", window); err != nil {
		return f, fmt.Errorf("list looping tools: %w", err)
	}
	if f.Rules, err = looping(ctx, tx, "rule", "3", window); err != nil {
		return f, fmt.Errorf("list warnings by rule: %w", err)
	}
	if f.Slowest, err = slowest(ctx, tx, window); err != nil {
		return f, fmt.Errorf("list the slowest steps: %w", err)
	}
	return f, nil
}

// fits reports whether a step divides a time into at most MaxBuckets buckets. A time of more than 292 years does not fit.
func fits(since, until time.Time, step time.Duration) bool {
	whole := until.Sub(since)
	if step <= 0 || whole < 0 || !since.Add(whole).Equal(until) {
		return false
	}
	return whole/step < store.MaxBuckets || whole/step == store.MaxBuckets && whole%step == 0
}

func buckets(ctx context.Context, tx *sql.Tx, f *store.Overview, window []any) error {
	query := `SELECT (started - $1) / $3, status, COUNT(*), SUM(CASE WHEN warned <> 0 THEN 1 ELSE 0 END)
		FROM runs WHERE started >= $1 AND started < $2 GROUP BY 1, 2`
	return eachRow(ctx, tx, query, append(window[:2:2], int64(f.Step)), func(row scanner) error {
		var bucket int64
		var status string
		var runs, warned int
		if err := row.Scan(&bucket, &status, &runs, &warned); err != nil {
			return err
		}
		b := &f.Buckets[bucket]
		b.Warned += warned
		switch status {
		case store.Running:
			b.Running += runs
		case store.Completed:
			b.Completed += runs
		case store.Failed:
			b.Failed += runs
		case store.Abandoned:
			b.Abandoned += runs
		}
		return nil
	})
}

// sane returns an expression for the sum of a column. It ignores absurd values, which would overflow the sum.
func sane(column string) string {
	return "CASE WHEN " + column + " BETWEEN -1000000000000 AND 1000000000000 THEN " + column + " ELSE 0 END"
}

func totals(ctx context.Context, tx *sql.Tx, f *store.Overview, window []any) error {
	query := "SELECT COUNT(*), COALESCE(SUM(CASE WHEN warned <> 0 THEN 1 ELSE 0 END), 0), COALESCE(SUM(CASE WHEN guarded_by <> '' THEN 1 ELSE 0 END), 0)"
	for _, column := range []string{"after_calls", "after_tokens", "tool_calls", "tokens"} {
		query += ", CAST(COALESCE(SUM(" + sane(column) + "), 0) AS BIGINT)"
	}
	for _, column := range []string{"after_cost", "cost"} {
		query += ", COALESCE(SUM(" + sane(column) + "), 0.0)"
	}
	for _, of := range []string{"guarded_by = ''", "guarded_by <> ''"} {
		for _, column := range []string{"stop_calls", "stop_tokens"} {
			query += ", CAST(COALESCE(SUM(CASE WHEN " + of + " THEN " + sane(column) + " ELSE 0 END), 0) AS BIGINT)"
		}
		query += ", COALESCE(SUM(CASE WHEN " + of + " THEN " + sane("stop_cost") + " ELSE 0.0 END), 0.0)"
	}
	return tx.QueryRowContext(ctx, query+" FROM runs WHERE started >= $1 AND started < $2", window...).
		Scan(&f.Runs, &f.Warned, &f.Guarded, &f.UsageAfterWarning.Calls, &f.UsageAfterWarning.Tokens, &f.Usage.Calls, &f.Usage.Tokens, &f.UsageAfterWarning.Cost,
			&f.Usage.Cost, &f.Wasted.Calls, &f.Wasted.Tokens, &f.Wasted.Cost, &f.Avoided.Calls, &f.Avoided.Tokens, &f.Avoided.Cost)
}

// looping counts warnings by a column, the highest counts first.
func looping(ctx context.Context, tx *sql.Tx, column, most string, window []any) (all []store.Looping, err error) {
	query := fmt.Sprintf(`SELECT w.%[1]s, COUNT(DISTINCT w.run), COUNT(*), CAST(SUM(%[4]s) AS BIGINT) FROM warnings w
		JOIN runs ON runs.number = w.run WHERE runs.started >= $1 AND runs.started < $2 AND w.%[1]s <> ''
		GROUP BY w.%[1]s ORDER BY %[2]s DESC, w.%[1]s LIMIT %[3]d`, column, most, maxLooping, sane("w.count"))
	err = eachRow(ctx, tx, query, window, func(row scanner) error {
		var l store.Looping
		err := row.Scan(&l.Name, &l.Runs, &l.Warnings, &l.Repeats)
		all = append(all, l)
		return err
	})
	return all, err
}

func slowest(ctx context.Context, tx *sql.Tx, window []any) (all []store.SlowStep, err error) {
	query := fmt.Sprintf(`SELECT id, slowest, max_latency FROM runs WHERE started >= $1 AND started < $2 AND max_latency > 0
		ORDER BY max_latency DESC, number LIMIT %d`, maxSlowest)
	err = eachRow(ctx, tx, query, window, func(row scanner) error {
		var slow store.SlowStep
		err := row.Scan(&slow.RunID, &slow.EventID, &slow.Latency)
		all = append(all, slow)
		return err
	})
	return all, err
}
