package pgstore_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/guardtest"
	"github.com/unloop-ai/unloop/guard/pgstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

func TestMain(m *testing.M) {
	guardtest.Process(func(address string) (guard.Store, error) {
		pool, err := pgxpool.New(context.Background(), address)
		if err != nil {
			return nil, err
		}
		return pgstore.New(context.Background(), pool)
	})
	os.Exit(postgres.Main(m))
}

func connect(t *testing.T, database string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

func open(t *testing.T, pool *pgxpool.Pool) *pgstore.Store {
	t.Helper()
	s, err := pgstore.New(t.Context(), pool)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestConformance(t *testing.T) {
	guardtest.Conform(t, func(t *testing.T) guard.Store { return open(t, connect(t, postgres.Database(t))) })
}

func TestSixteenProcessesJudgeAsOneGuard(t *testing.T) {
	database := postgres.Database(t)
	guardtest.Processes(t, open(t, connect(t, database)), database)
}

func TestProcessesThatStartAtOnceCreateTheTablesOnce(t *testing.T) {
	pool := connect(t, postgres.Database(t))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := pgstore.New(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

func TestIdleRunsAreRemoved(t *testing.T) {
	s := open(t, connect(t, postgres.Database(t)))
	for _, id := range []string{"a", "b"} {
		if _, err := s.Save(t.Context(), guard.RunKey{ID: id}, guard.Change{Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		idle time.Duration
		want int
	}{{time.Hour, 0}, {0, 2}, {0, 0}} {
		if n, err := s.RemoveIdle(t.Context(), c.idle); err != nil || n != c.want {
			t.Errorf("idle for %v: removed %d, %v, want %d", c.idle, n, err, c.want)
		}
	}
}
