// Package pgstore keeps the state of guarded runs in PostgreSQL, so that guards in many processes judge one run. Each method is one
// round trip.
//
//	pool, err := pgxpool.New(ctx, "postgres://…")
//	store, err := pgstore.New(ctx, pool)
//	g := guard.New(p, guard.Options{Run: conversation, Shared: &guard.Shared{Store: store, Project: "shop", OnError: report}})
package pgstore

import (
	"context"
	_ "embed" // for the schema
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/unloop-ai/unloop/guard"
)

//go:embed schema.sql
var schema string

// Store is a guard.Store in PostgreSQL.
type Store struct{ pool *pgxpool.Pool }

var _ guard.Store = (*Store)(nil)

// New returns a store that uses the pool, which the caller closes. It creates two tables and a function in the first schema of the
// search path: unloop_guard_runs, unloop_guard_usage and unloop_guard_save. An event holds a connection for one transaction.
func New(ctx context.Context, pool *pgxpool.Pool) (*Store, error) {
	err := pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		// Two processes that start at once would create the tables twice.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended('unloop_guard', 7239))`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create the tables of a run store: %w", err)
	}
	return &Store{pool}, nil
}

// Load returns the latest snapshot of the run: see guard.Store.
func (s *Store) Load(ctx context.Context, run guard.RunKey) (saved guard.Saved, err error) {
	err = s.pool.QueryRow(ctx, `SELECT version, data FROM unloop_guard_runs WHERE project = $1 AND run = $2`,
		[]byte(run.Project), []byte(run.ID)).Scan(&saved.Version, &saved.Data)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return guard.Saved{}, fmt.Errorf("load a run from PostgreSQL: %w", err)
	}
	return saved, nil
}

// Save replaces the snapshot of the run: see guard.Store.
func (s *Store) Save(ctx context.Context, run guard.RunKey, c guard.Change) (saved guard.Saved, err error) {
	data, counts, cost := c.Data, c.Use != (guard.Usage{}) || c.Limits != (guard.Usage{}), int64(0)
	if data == nil {
		data = []byte{}
	}
	err = s.pool.QueryRow(ctx, `SELECT status, version, data, calls, tokens, cost FROM unloop_guard_save($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		[]byte(run.Project), []byte(run.ID), c.Version, data, counts && run.Project != "",
		c.Use.Calls, c.Use.Tokens, millionths(c.Use.Cost), c.Limits.Calls, c.Limits.Tokens, millionths(c.Limits.Cost),
	).Scan(&saved.Status, &saved.Version, &saved.Data, &saved.Used.Calls, &saved.Used.Tokens, &cost)
	if err != nil {
		return guard.Saved{}, fmt.Errorf("save a run in PostgreSQL: %w", err)
	}
	saved.Used.Cost = float64(cost) / 1e6
	return saved, nil
}

func millionths(dollars float64) int64 { return int64(math.Round(dollars * 1e6)) }

// RemoveIdle removes the runs that had no event for the time idle, and returns their number. Call it now and then: nothing else
// removes a run.
func (s *Store) RemoveIdle(ctx context.Context, idle time.Duration) (int, error) {
	removed, err := s.pool.Exec(ctx, `DELETE FROM unloop_guard_runs WHERE saved_at < now() - $1::interval`, idle)
	if err != nil {
		return 0, fmt.Errorf("remove idle runs from PostgreSQL: %w", err)
	}
	return int(removed.RowsAffected()), nil
}
