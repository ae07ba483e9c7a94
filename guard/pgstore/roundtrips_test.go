package pgstore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

// queryCounter counts queries and the statements that are prepared for them.
type queryCounter struct{ atomic.Int64 }

func (q *queryCounter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	q.Add(1)
	return ctx
}

func (*queryCounter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (q *queryCounter) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	q.Add(1)
	return ctx
}

func (*queryCounter) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

func TestACallCostsOneRoundTrip(t *testing.T) {
	o, err := pgxpool.ParseConfig(postgres.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	queries := &queryCounter{}
	o.MaxConns, o.ConnConfig.Tracer = 1, queries
	pool, err := pgxpool.NewWithConfig(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	s := open(t, pool)
	run, version := guard.RunKey{Project: "shop", ID: "r"}, int64(0)
	for k := range 3 { // the first calls prepare the statements
		before := queries.Load()
		saved, err := s.Save(t.Context(), run, guard.Change{Version: version, Data: []byte("x"), Use: guard.Usage{Calls: 1}, Limits: guard.Usage{Calls: 9}})
		if err != nil {
			t.Fatal(err)
		}
		version = saved.Version
		if _, err := s.Load(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if trips := queries.Load() - before; k > 0 && trips != 2 {
			t.Errorf("a Save and a Load cost %d round trips, want 2", trips)
		}
	}
}
