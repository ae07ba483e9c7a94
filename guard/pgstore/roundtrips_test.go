package pgstore_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/unloop-ai/unloop/guard/guardtest"
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
	guardtest.OneRoundTrip(t, open(t, pool), queries.Load)
}
