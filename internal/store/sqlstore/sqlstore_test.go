package sqlstore_test

import (
	"os"
	"path/filepath"
	"testing"

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

func TestStore(t *testing.T) {
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			if name == "SQLite" {
				database = sqlite.Database
			}
			storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, database(t)) })
		})
	}
}
