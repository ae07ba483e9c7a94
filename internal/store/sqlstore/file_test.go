package sqlstore_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/store/sqlstore"
)

func TestNothingIsAcknowledgedAfterTheDatabaseFileWasDeleted(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(t *testing.T, path string)
	}{
		{"deleted", func(t *testing.T, path string) { must(t, os.Remove(path)) }},
		{"deleted with its log", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path), os.Remove(path+"-wal"), os.Remove(path+"-shm")))
		}},
		{"moved away", func(t *testing.T, path string) { must(t, os.Rename(path, path+".old")) }},
		{"moved away with its folder", func(t *testing.T, path string) { must(t, os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")) }},
		{"replaced by an empty file", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600)))
		}},
		{"replaced by a copy of itself", func(t *testing.T, path string) {
			text, err := os.ReadFile(path)
			must(t, errors.Join(err, os.WriteFile(path+".new", text, 0o600), os.Rename(path+".new", path)))
		}},
		{"bereft of its log", func(t *testing.T, path string) { must(t, os.Remove(path+"-wal")) }},
		{"given another log", func(t *testing.T, path string) {
			must(t, errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", nil, 0o600)))
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "state")
			must(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, "unloop.db")
			s := open(t, path)
			l := newLoad(1)
			if _, err := s.Commit(t.Context(), l.batch(3, 1)); err != nil {
				t.Fatal(err)
			}
			c.change(t, path)
			for range 2 {
				if _, err := s.Commit(t.Context(), l.batch(3, 1)); !errors.Is(err, store.ErrMoved) {
					t.Errorf("a commit gives the error %v", err)
				}
				if err := s.Writable(t.Context()); !errors.Is(err, store.ErrMoved) {
					t.Errorf("trying to write gives the error %v", err)
				}
			}
			if arrival, _, err := s.Last(t.Context()); err != nil || arrival != 3 {
				t.Errorf("what was recorded ends at %d, error %v", arrival, err)
			}
		})
	}
}

func TestARestoredFileIsNotWrittenBeforeARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unloop.db")
	s, err := sqlstore.Open(t.Context(), path, sqlstore.Options{})
	must(t, err)
	l := newLoad(1)
	_, err = s.Commit(t.Context(), l.batch(2, 1))
	must(t, errors.Join(err, os.Rename(path, path+".old")))
	if _, err := s.Commit(t.Context(), l.batch(2, 1)); !errors.Is(err, store.ErrMoved) {
		t.Errorf("a commit while the file is away gives the error %v", err)
	}
	must(t, os.Rename(path+".old", path))
	if _, err := s.Commit(t.Context(), l.batch(2, 1)); !errors.Is(err, store.ErrMoved) {
		t.Errorf("a commit afterwards gives the error %v", err)
	}
	must(t, s.Close())
	if arrival, _, err := open(t, path).Last(t.Context()); err != nil || arrival != 2 {
		t.Errorf("what was acknowledged ends at %d, error %v", arrival, err)
	}
}

func TestAStoreDoesNotWriteToAReplacedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unloop.db")
	old, err := sqlstore.Open(t.Context(), path, sqlstore.Options{})
	must(t, err)
	for _, file := range []string{path, path + "-wal", path + "-shm", path + ".lock"} {
		must(t, os.Remove(file))
	}
	fresh := open(t, path)
	_, err = fresh.Commit(t.Context(), newLoad(1).batch(5, 1))
	must(t, err)
	before, err := os.Stat(path + "-wal")
	must(t, errors.Join(err, old.Close()))
	if after, err := os.Stat(path + "-wal"); err != nil || !os.SameFile(before, after) || after.Size() != before.Size() {
		t.Errorf("the log of the new database is %v, error %v", after, err)
	}
	if err := fresh.Writable(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAFileOfAnotherProgramIsNotChanged(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"a database": {func(t *testing.T, path string) { meddle(t, path, `CREATE TABLE notes (text)`) }, "it belongs to another program: name another file"},
		"a database with a table that has the name of one of ours": {
			func(t *testing.T, path string) { meddle(t, path, `CREATE TABLE runs (id)`, `CREATE TABLE events (id)`) },
			"it belongs to another program: name another file",
		},
		"a database that the same tool migrates": {
			func(t *testing.T, path string) {
				meddle(t, path, `CREATE TABLE goose_db_version (id)`, `CREATE TABLE notes (text)`)
			},
			"it belongs to another program: name another file",
		},
		"a database with a write-ahead log": {
			func(t *testing.T, path string) {
				meddle(t, path, `PRAGMA journal_mode = wal`, `CREATE TABLE notes (text)`)
			},
			"it belongs to another program: name another file",
		},
		"a text": {func(t *testing.T, path string) { must(t, os.WriteFile(path, []byte("a text"), 0o600)) }, "the file is not a SQLite database: name another file"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			path := filepath.Join(folder, "other.db")
			c.make(t, path)
			before, err := os.ReadFile(path)
			must(t, err)
			_, err = sqlstore.Open(t.Context(), path, sqlstore.Options{})
			if err == nil || !strings.Contains(err.Error(), path+": "+c.want) {
				t.Errorf("error %v", err)
			}
			after, err := os.ReadFile(path)
			must(t, err)
			files, err := os.ReadDir(folder)
			must(t, err)
			if !bytes.Equal(after, before) || len(files) != 1 {
				t.Errorf("the content is the same: %t; the folder has %v", bytes.Equal(after, before), files)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		path := t.TempDir()
		_, err := sqlstore.Open(t.Context(), path, sqlstore.Options{})
		if err == nil || !strings.Contains(err.Error(), path+": it is a folder: name a file in it") {
			t.Errorf("error %v", err)
		}
		if _, err := os.Stat(path + ".lock"); err == nil {
			t.Error("a lock file was made")
		}
	})
}

// A server can be killed between two migrations.
func TestADatabaseWithTheVersionAloneIsMigrated(t *testing.T) {
	fresh := filepath.Join(t.TempDir(), "unloop.db")
	meddle(t, fresh, `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')))`, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1)`)
	if _, err := open(t, fresh).Commit(t.Context(), newLoad(1).batch(1, 1)); err != nil {
		t.Error(err)
	}
}

// TestTheLockHoldsForEveryPathOfTheFile needs locks that belong to an open file for two of the names.
func TestTheLockHoldsForEveryPathOfTheFile(t *testing.T) {
	for _, c := range []struct {
		what  string
		linux bool
		other func(t *testing.T, path string) string
	}{
		{"a symbolic link to the file", false, func(t *testing.T, path string) string {
			must(t, os.Symlink(path, path+".link"))
			return path + ".link"
		}},
		{"a symbolic link to its folder", false, func(t *testing.T, path string) string {
			must(t, os.Symlink(filepath.Dir(path), filepath.Dir(path)+".link"))
			return filepath.Join(filepath.Dir(path)+".link", filepath.Base(path))
		}},
		{"a hard link", true, func(t *testing.T, path string) string {
			must(t, os.Link(path, path+".link"))
			return path + ".link"
		}},
		{"its name, without the lock file", true, func(t *testing.T, path string) string {
			must(t, os.Remove(path+".lock"))
			return path
		}},
	} {
		if c.linux && runtime.GOOS != "linux" {
			continue
		}
		t.Run(c.what, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "state")
			must(t, os.Mkdir(folder, 0o700))
			path := filepath.Join(folder, "unloop.db")
			first := open(t, path)
			if second, err := sqlstore.Open(t.Context(), c.other(t, path), sqlstore.Options{}); !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "stop it") {
				t.Errorf("a second server gets the error %v", errors.Join(err, second.Close()))
			}
			if _, err := first.Commit(t.Context(), newLoad(1).batch(1, 1)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestReadersAreServedWhileAnotherProgramHoldsTheWriteLock reads within reading, so that a connection has to be opened.
func TestReadersAreServedWhileAnotherProgramHoldsTheWriteLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "unloop.db")
	s := open(t, path)
	_, err := s.Commit(t.Context(), newLoad(1).batch(1, 1))
	must(t, err)
	other, err := sql.Open("sqlite", path)
	must(t, err)
	other.SetMaxOpenConns(1)
	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	must(t, err)
	read := 0
	err = s.Events(t.Context(), 1, store.Position{}, func(*store.Event) error {
		read++
		_, _, err := s.Last(t.Context()) // a connection that wants the lock fails after ten seconds
		return err
	})
	if err != nil || read != 1 {
		t.Errorf("%d events were read, error %v", read, err)
	}
	must(t, other.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
