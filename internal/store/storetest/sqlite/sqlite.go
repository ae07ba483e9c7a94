// Package sqlite gives tests databases of SQLite. The migration of the tables takes most of the time of a short test. Each test program
// migrates one database and copies it.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// migrated returns the bytes of a database with the current tables and without records.
var migrated = sync.OnceValues(func() (database []byte, err error) {
	folder, err := os.MkdirTemp("", "unloop-sqlite-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	path := filepath.Join(folder, "unloop.db")
	s, err := sqlstore.Open(context.Background(), path, sqlstore.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Close(); err != nil {
		return nil, fmt.Errorf("close the database: %w", err)
	}
	return os.ReadFile(path)
})

// Database returns the path of an empty database with the current tables, in a folder that is deleted at the end of the test.
func Database(t testing.TB) string {
	t.Helper()
	database, err := migrated()
	if err != nil {
		t.Fatalf("make a database: %v", err)
	}
	path := filepath.Join(t.TempDir(), "unloop.db")
	if err := os.WriteFile(path, database, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
