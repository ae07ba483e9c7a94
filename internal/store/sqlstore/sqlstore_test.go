package sqlstore_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
	"github.com/unloop-ai/unloop/internal/store/storetest/sqlite"
)

func TestMain(m *testing.M) { os.Exit(postgres.Main(m)) }

// databases returns where a new database of each kind is.
var databases = map[string]func(t testing.TB) string{
	"SQLite":     func(t testing.TB) string { return filepath.Join(t.TempDir(), "unloop.db") },
	"PostgreSQL": postgres.Database,
}

// open opens a store that is closed when the test has ended.
func open(t testing.TB, dsn string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.Open(t.Context(), dsn, sqlstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// owner is the store of a cluster with one partition, as its owner uses it. After a failed commit it opens the partition again, as a
// server does.
type owner struct {
	*sqlstore.Partition
	reopen func() *sqlstore.Partition
}

// owners returns a function that empties one database for each test: to make its tables takes longer than most tests.
func owners(t *testing.T) func(t *testing.T) storetest.Store {
	t.Helper()
	dsn := postgres.Database(t)
	s, err := sqlstore.OpenPartitioned(t.Context(), dsn, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	epoch := renew(t, s, "a").Epochs[0]
	return func(t *testing.T) storetest.Store {
		postgres.Exec(t, dsn, `DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(quote_ident(tablename), ', ') FROM pg_tables
			WHERE schemaname = current_schema() AND tablename NOT IN ('partitions', 'servers', 'settings', 'goose_db_version')); END $$;
			DELETE FROM settings WHERE name <> 'partitions'; UPDATE partitions SET sequence = 0, arrival = 0, number = 0, flushed = 0`)
		o := &owner{reopen: func() *sqlstore.Partition { return s.Partition(0, epoch) }}
		o.Partition = o.reopen()
		return o
	}
}

func (o *owner) Commit(ctx context.Context, b *store.Batch) ([]store.EventRef, error) {
	duplicates, err := o.Partition.Commit(ctx, b)
	return duplicates, o.after(err)
}

func (o *owner) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	return o.after(o.Partition.CommitTogether(ctx, batches))
}

func (o *owner) after(err error) error {
	if errors.Is(err, store.ErrPartition) {
		o.Partition = o.reopen()
	}
	return err
}

func TestStore(t *testing.T) {
	t.Run("a partition of a cluster", func(t *testing.T) {
		storetest.Run(t, owners(t))
	})
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			if name == "SQLite" {
				database = sqlite.Database
			}
			storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, database(t)) })
		})
	}
}
