package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// runColumns has a column for each figure that queries filter by, sort by or sum. All other figures are in shown.
const runColumns = "number, id, name, project, status, profile, started, ended, updated, arrival, metadata, tools, agents, models, score, health, " +
	"warnings, worst, warned, after_calls, after_tokens, after_cost, tool_calls, tokens, cost, max_latency, bytes, shown, slowest, refold, guarded_by, " +
	"stop_calls, stop_tokens, stop_cost, mean_novelty"

// writtenRunColumns are runColumns and the columns that only queries use. A run is not read from the latter, because shown and
// metadata contain the same values.
const writtenRunColumns = runColumns + ", labels, events, duration, mean_latency, most_called"

// runs writes runs, new ones and such as are known.
func (w *writing) runs(ctx context.Context, runs []store.Run) error {
	runs = lasts(runs, func(r *store.Run) int64 { return r.Number })
	return insert(ctx, w, &w.bulks.runs, runs, w.runArguments, nil)
}

func (w *writing) runArguments(to []any, r *store.Run) []any {
	m := &r.Metrics
	return append(to, r.Number, store.Key(r.ID), store.Text(r.Name), store.Key(r.Project), store.Key(r.Status), store.Text(r.Profile),
		toNanos(r.Started), toNanos(r.Ended), toNanos(r.Updated), r.Arrival, optional(r.Metadata), list(r.Tools), list(r.Agents), list(r.Models),
		int64(r.Health.Score), store.Text(string(r.Health.Status)),
		int64(r.Warnings), int64(r.WorstAction), toNanos(r.FirstWarningAt), int64(r.UsageAfterWarning.Calls), r.UsageAfterWarning.Tokens, store.Finite(r.UsageAfterWarning.Cost),
		int64(m.ToolCalls), m.Tokens, store.Finite(m.Cost), store.Finite(m.MaxLatency), r.Bytes, encodeShown(r), store.Text(r.SlowestEvent), refold(r.Refold),
		store.Text(r.Guard.By), int64(r.UsageAfterStop.Calls), r.UsageAfterStop.Tokens, store.Finite(r.UsageAfterStop.Cost), store.Finite(r.MeanNovelty),
		list(store.LabelsOf(r.Metadata)), int64(m.Events), store.Finite(m.Duration), store.Finite(m.MeanLatency), store.Text(r.Preview.MostCalled()))
}

// scanner is a row.
type scanner interface{ Scan(...any) error }

func scanRun(row scanner) (*store.Run, error) {
	var (
		r                               store.Run
		m                               = &r.Metrics
		started, ended, updated, warned int64
		tools, agents, models           string
		figures, late                   string
		calls                           int
		tokens                          int64
		cost, slowest                   float64
		worst                           int64
		metadata                        []byte
		guardedBy                       string
	)
	err := row.Scan(&r.Number, &r.ID, &r.Name, &r.Project, &r.Status, &r.Profile, &started, &ended, &updated, &r.Arrival, &metadata, &tools, &agents, &models,
		&r.Health.Score, &r.Health.Status, &r.Warnings, &worst, &warned, &r.UsageAfterWarning.Calls, &r.UsageAfterWarning.Tokens, &r.UsageAfterWarning.Cost,
		&calls, &tokens, &cost, &slowest, &r.Bytes, &figures, &r.SlowestEvent, &late,
		&guardedBy, &r.UsageAfterStop.Calls, &r.UsageAfterStop.Tokens, &r.UsageAfterStop.Cost, &r.MeanNovelty)
	if err != nil {
		return nil, err
	}
	r.Started, r.Ended, r.Updated, r.FirstWarningAt = fromNanos(started), fromNanos(ended), fromNanos(updated), fromNanos(warned)
	r.Metadata, r.WorstAction = object(metadata), policy.Action(worst)
	for _, names := range []struct {
		into *[]string
		kept string
	}{{&r.Tools, tools}, {&r.Agents, agents}, {&r.Models, models}} {
		if *names.into, err = listed(names.kept); err != nil {
			return nil, fmt.Errorf("names of run %d: %w", r.Number, err)
		}
	}
	if err := decodeShown(figures, &r); err != nil {
		return nil, fmt.Errorf("figures of run %d: %w", r.Number, err)
	}
	r.Guard.By = guardedBy
	m.ToolCalls, m.Tokens, m.Cost, m.MaxLatency = calls, tokens, cost, slowest
	if r.Refold, err = refolded(late); err != nil {
		return nil, fmt.Errorf("refold of run %d: %w", r.Number, err)
	}
	return &r, nil
}

// Last returns the highest arrival and the highest number of a run, or 0 if there is none. The arrival is at least that up to which rows are
// flushed and events are indexed, also if their runs were deleted: events that got these arrivals again would be left out of both.
func (s *Store) Last(ctx context.Context) (arrival, run int64, err error) {
	var changed int64
	err = s.read.QueryRowContext(ctx, `SELECT (SELECT COALESCE(MAX(arrival), 0) FROM events), (SELECT COALESCE(MAX(arrival), 0) FROM runs),
		(SELECT COALESCE(MAX(number), 0) FROM runs)`).Scan(&arrival, &changed, &run)
	if err != nil {
		return 0, 0, fmt.Errorf("read the last arrival of the store: %w", err)
	}
	indexed, err := indexedUpTo(ctx, s.read)
	if err != nil {
		return 0, 0, err
	}
	flushed, err := s.flushedUpTo(ctx)
	return max(arrival, changed, indexed, flushed), run, err
}

// Run returns the run with the id, or nil.
func (s *Store) Run(ctx context.Context, id string) (*store.Run, error) {
	r, err := scanRun(s.bulks.run.QueryRowContext(ctx, store.Key(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	return r, nil
}

// Idle returns ids of running runs that were last updated before a time, the longest idle first.
func (s *Store) Idle(ctx context.Context, before time.Time, limit int) ([]string, error) {
	ids, err := s.runIDs(ctx, s.idleQuery(), toNanos(before), limit)
	if err != nil {
		return nil, fmt.Errorf("read idle runs: %w", err)
	}
	return ids, nil
}

// idleQuery names the index for SQLite, which otherwise reads all running runs and sorts them.
func (s *Store) idleQuery() string {
	return `SELECT id FROM ` + s.idleRuns + ` WHERE status = 'running' AND updated < $1 ORDER BY updated, number LIMIT $2`
}

// Refolding returns the ids of the runs with a Refold, the oldest first.
func (s *Store) Refolding(ctx context.Context) ([]string, error) {
	ids, err := s.runIDs(ctx, `SELECT id FROM runs WHERE refold <> '' ORDER BY number`)
	if err != nil {
		return nil, fmt.Errorf("list the runs to refold: %w", err)
	}
	return ids, nil
}

// runIDs returns the values of the only column of a query.
func (s *Store) runIDs(ctx context.Context, query string, args ...any) (ids []string, err error) {
	err = s.each(ctx, query, args, func(row scanner) error {
		var id string
		err := row.Scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// each calls f for each row of a query. An error of f ends the iteration and is returned.
func (s *Store) each(ctx context.Context, query string, args []any, f func(scanner) error) error {
	return eachRow(ctx, s.read, query, args, f)
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func eachRow(ctx context.Context, q querier, query string, args []any, f func(scanner) error) error {
	rows, err := q.QueryContext(ctx, query, args...)
	return eachOf(rows, err, f)
}

// eachOf calls f for each row of a query that returned an error or none.
func eachOf(rows *sql.Rows, failed error, f func(scanner) error) (err error) {
	if failed != nil {
		return failed
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// flushed records the arrival up to which the rows of all runs are current.
func (w *writing) flushed(ctx context.Context, arrival int64) error {
	if arrival == 0 {
		return nil
	}
	return w.exec(ctx, "write the arrival of the last flush", `INSERT INTO settings (name, value) VALUES ('flushed', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(strconv.FormatInt(arrival, 10)))
}

// flushedUpTo returns the latest Batch.Flushed, or 0.
func (s *Store) flushedUpTo(ctx context.Context) (arrival int64, err error) {
	var text []byte
	err = s.read.QueryRowContext(ctx, `SELECT COALESCE((SELECT value FROM settings WHERE name = 'flushed'), $1)`, []byte("0")).Scan(&text)
	if err == nil {
		arrival, err = strconv.ParseInt(string(text), 10, 64)
	}
	if err != nil {
		return 0, fmt.Errorf("read the arrival of the last flush: %w", err)
	}
	return arrival, nil
}

// Unflushed returns the ids of the runs with events that were recorded after the latest Batch.Flushed.
func (s *Store) Unflushed(ctx context.Context) (ids []string, err error) {
	arrival, err := s.flushedUpTo(ctx)
	if err != nil {
		return nil, err
	}
	return s.runIDs(ctx, `SELECT id FROM runs WHERE number IN (SELECT run FROM events WHERE arrival > $1) ORDER BY number`, arrival)
}
