package sqlstore_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

// TestWritesToTheLogAreJoined commits events whose pages are many, and counts the system calls that write.
func TestWritesToTheLogAreJoined(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, path)
	before, writes := sizeOfFile(t, path+"-wal"), writeCalls(t)
	if _, err := s.Commit(t.Context(), newLoad(1000).batch(4000, 1000)); err != nil {
		t.Fatal(err)
	}
	writes = writeCalls(t) - writes
	if pages := (sizeOfFile(t, path+"-wal") - before) / 4120; pages < 500 || writes > pages/4 {
		t.Errorf("%d system calls wrote %d pages", writes, pages)
	}
}

// writeCalls returns how many system calls of this process have written so far.
func writeCalls(t *testing.T) (calls int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "syscw: %d", &calls); err == nil {
			return calls
		}
	}
	t.Fatalf("no write calls in %s", text)
	return 0
}

func sizeOfFile(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestJoinedWritesAreReadBack writes and undoes transactions that are larger than the cache. SQLite reads their pages from the log and
// writes them again before the commit. A connection with the VFS of the system reads each commit. At the end it reads the files as a crash
// would leave them.
func TestJoinedWritesAreReadBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "joined.db")
	writer := sqliteAt(t, path, "_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=cache_size(20)&_pragma=wal_autocheckpoint(300)&vfs="+sqlstore.JoiningVFS(t))
	mustExec(t, writer, `CREATE TABLE words (id INTEGER PRIMARY KEY, size INTEGER, body BLOB)`, `CREATE INDEX words_size ON words (size)`)
	reader := sqliteAt(t, path, "mode=ro")
	want := 0
	for round := range 40 {
		tx, err := writer.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{
			`WITH RECURSIVE n (k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 200)
				INSERT INTO words (size, body) SELECT 100 + k * 37 % 900, randomblob(100 + k * 37 % 900) FROM n`,
			`UPDATE words SET body = zeroblob(size) WHERE id % 7 = 3`,
			`DELETE FROM words WHERE id % 11 = 5`,
		} {
			if _, err := tx.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		var sum int
		if err := tx.QueryRowContext(t.Context(), `SELECT SUM(LENGTH(body)) FROM words`).Scan(&sum); err != nil {
			t.Fatal(err)
		}
		end := tx.Commit
		if round%3 == 1 {
			end = tx.Rollback
		} else {
			want = sum
		}
		if err := end(); err != nil {
			t.Fatal(err)
		}
		compareWords(t, fmt.Sprint("round ", round), reader, want)
	}
	crashed := filepath.Join(t.TempDir(), "crashed.db")
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err == nil {
			err = os.WriteFile(crashed+end, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	compareWords(t, "after a crash", sqliteAt(t, crashed, "mode=rw"), want)
}

// compareWords compares the size of all words, and checks the pages of the tables.
func compareWords(t *testing.T, when string, db *sql.DB, want int) {
	t.Helper()
	var sum int
	var intact string
	err := db.QueryRowContext(t.Context(), `SELECT SUM(LENGTH(body)), (SELECT integrity_check FROM pragma_integrity_check) FROM words`).Scan(&sum, &intact)
	if sum != want || intact != "ok" || err != nil {
		t.Fatalf("%s: %d bytes, want %d; integrity %q, error %v", when, sum, want, intact, err)
	}
}

// sqliteAt opens a file with one connection.
func sqliteAt(t *testing.T, path, options string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?"+options)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustExec(t *testing.T, db *sql.DB, queries ...string) {
	t.Helper()
	for _, query := range queries {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
}
