package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/unloop-ai/unloop/internal/store"
)

// The pragmas of a connection, in the order in which they are given. The first two matter to a new file only.
var (
	filePragmas  = []string{"page_size(" + env("PS", "4096") + ")", "auto_vacuum(incremental)", "journal_mode(wal)", "busy_timeout(10000)", "temp_store(memory)"}
	writePragmas = append(filePragmas[:len(filePragmas):len(filePragmas)],
		"synchronous(full)", "cache_size("+env("CS", "-65536")+")", "wal_autocheckpoint("+env("WC", "4000")+")", "journal_size_limit(67108864)")
	readPragmas = append(filePragmas[:len(filePragmas):len(filePragmas)], "query_only(1)", "cache_size(-8192)")
)

// openSQLite opens the file, and makes it if need be, for its owner only.
func openSQLite(ctx context.Context, path string, o Options) (d database, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return d, fmt.Errorf("find the database %s: %w", path, err)
	}
	if err := touch(path); err != nil {
		return d, err
	}
	lock, err := lockFile(ctx, path)
	if err != nil {
		return d, err
	}
	d = database{
		lock:     lock,
		snapshot: &sql.TxOptions{ReadOnly: true},
		dialect:  goose.DialectSQLite3,
		words:    strings.NewReplacer(),
		mark:     func(int) string { return "?" },
		rows:     []int{64, 8, 1},
		size:     `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
		reclaim:  []string{`PRAGMA incremental_vacuum`},
	}
	d.write, err = sqlitePool(path, "_txlock=immediate", writePragmas, 1)
	if err == nil {
		d.read, err = sqlitePool(path, "", readPragmas, o.Readers)
	}
	if err == nil {
		err = d.write.PingContext(ctx)
	}
	if err != nil {
		return database{}, errors.Join(fmt.Errorf("open the database %s: %w", path, err), lock.Close())
	}
	return d, nil
}

// touch makes the file if it is not there. What SQLite puts beside it gets the same rights.
func touch(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("open the database %s: its folder does not exist", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return nil
}

// sqlitePool returns a pool of connections that stay open. It opens none yet.
func sqlitePool(path, query string, pragmas []string, connections int) (*sql.DB, error) {
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: query}
	for _, pragma := range pragmas {
		address.RawQuery += "&_pragma=" + url.QueryEscape(pragma)
	}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, err
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// lockFile keeps other servers away from the database, in this process and in others, until it is closed or the process ends. It
// holds a transaction open on an empty database of its own, for SQLite knows how every system locks files.
func lockFile(ctx context.Context, path string) (io.Closer, error) {
	path += ".lock"
	if err := touch(path); err != nil {
		return nil, err
	}
	pool, err := sqlitePool(path, "", nil, 1)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	_, err = pool.ExecContext(ctx, "BEGIN EXCLUSIVE")
	if failure := (*sqlite.Error)(nil); errors.As(err, &failure) && failure.Code()&0xff == sqlite3.SQLITE_BUSY {
		err = store.ErrInUse
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the database with %s: %w", path, err), pool.Close())
	}
	return pool, nil
}

func env(k, d string) string {
	if v := os.Getenv(k); v != "" {
		return v
	}
	return d
}
