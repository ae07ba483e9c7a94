package pgstore_test

import (
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

func TestMain(m *testing.M) { os.Exit(postgres.Main(m)) }

func connect(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), postgres.Database(t))
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
	guardtest.Conform(t, func(t *testing.T) guard.Store { return open(t, connect(t)) })
}

func TestProcessesThatStartAtOnceCreateTheTablesOnce(t *testing.T) {
	pool := connect(t)
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
	s := open(t, connect(t))
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
