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

// Overview sums up the runs that the filter chooses and that started in a period, in buckets of a step, and those of the period of equal
// length before. It reads the rows of all of them. All its parts are of one moment.
func (s *Store) Overview(ctx context.Context, q store.OverviewQuery) (f store.Overview, err error) {
	if !fits(q.Since, q.Until, q.Step) {
		return f, fmt.Errorf("sum up runs from %v to %v by %v: %w", q.Since, q.Until, q.Step, store.ErrBuckets)
	}
	chosen, err := s.filtered(ctx, &q.Filter)
	if err != nil {
		return f, fmt.Errorf("sum up runs: %w", err)
	}
	tx, err := s.read.BeginTx(ctx, s.snapshot)
	if err != nil {
		return f, fmt.Errorf("begin an overview: %w", err)
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	f = store.Overview{Since: q.Since, Until: q.Until, Step: q.Step}
	if err := s.sumUp(ctx, tx, &f, &q); err != nil {
		return f, fmt.Errorf("sum up runs: %w", err)
	}
	if f.Tools, err = looping(ctx, tx, "tool", "4", chosen); err != nil {
		return f, fmt.Errorf("sum up looping tools: %w", err)
	}
	if f.Rules, err = looping(ctx, tx, "rule", "3", chosen); err != nil {
		return f, fmt.Errorf("sum up warnings: %w", err)
	}
	if f.Slowest, err = slowest(ctx, tx, chosen); err != nil {
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

// sane returns an expression for the sum of a column. It ignores absurd values, which would overflow the sum.
func sane(column string) string {
	return "CASE WHEN " + column + " BETWEEN -1000000000000 AND 1000000000000 THEN " + column + " ELSE 0 END"
}

// looping counts warnings by a column, the highest counts first.
func looping(ctx context.Context, tx *sql.Tx, column, most string, chosen *where) (all []store.Looping, err error) {
	query := fmt.Sprintf(`SELECT w.%[1]s, COUNT(DISTINCT w.run), COUNT(*), CAST(SUM(%[4]s) AS BIGINT) FROM warnings w
		WHERE w.run IN (SELECT number FROM runs%[5]s) AND w.%[1]s <> ''
		GROUP BY w.%[1]s ORDER BY %[2]s DESC, w.%[1]s LIMIT %[3]d`, column, most, maxLooping, sane("w.count"), chosen)
	err = eachRow(ctx, tx, query, chosen.args, func(row scanner) error {
		var l store.Looping
		err := row.Scan(&l.Name, &l.Runs, &l.Warnings, &l.Repeats)
		all = append(all, l)
		return err
	})
	return all, err
}

func slowest(ctx context.Context, tx *sql.Tx, chosen *where) (all []store.SlowStep, err error) {
	query := fmt.Sprintf(`SELECT number, id, name, slowest, max_latency FROM runs%s AND max_latency > 0
		ORDER BY max_latency DESC, number LIMIT %d`, chosen, maxSlowest)
	var numbers []int64
	err = eachRow(ctx, tx, query, chosen.args, func(row scanner) error {
		var slow store.SlowStep
		var number int64
		err := row.Scan(&number, &slow.RunID, &slow.Run, &slow.EventID, &slow.Latency)
		all, numbers = append(all, slow), append(numbers, number)
		return err
	})
	for k := range all {
		if err == nil {
			all[k].Step, err = stepOf(ctx, tx, numbers[k], all[k].EventID)
		}
	}
	return all, err
}

// stepOf returns what an event is about: the tool or model that it calls, else its type; "" if there is no such event.
func stepOf(ctx context.Context, tx *sql.Tx, run int64, id string) (string, error) {
	var body []byte
	err := tx.QueryRowContext(ctx, `SELECT body FROM events WHERE run = $1 AND id = $2`, run, id).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	e, err := store.Decode(body)
	if err != nil {
		return "", nil //nolint:nilerr // an unreadable event has no name
	}
	for _, name := range []string{e.ToolName(), e.Model} {
		if name != "" {
			return name, nil
		}
	}
	return string(e.Type), nil
}
