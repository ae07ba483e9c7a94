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
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/unloop-ai/unloop/internal/store"
)

// The pragmas of a connection, in the order in which they are given. The first two matter to a new file only. The log is copied
// into the file once it has 32 MiB: the same pages are written again and again, so that less often is less.
var (
	filePragmas  = []string{"page_size(4096)", "auto_vacuum(incremental)", "journal_mode(wal)", "busy_timeout(10000)", "temp_store(memory)"}
	writePragmas = append(slices.Clone(filePragmas),
		"synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(8000)", "journal_size_limit(67108864)")
	readPragmas = append(slices.Clone(filePragmas), "query_only(1)", "cache_size(-8192)")
)

// openSQLite opens the file, and makes it if need be, for its owner only.
func openSQLite(ctx context.Context, path string, o Options) (d database, err error) {
	if path == "" {
		return d, errors.New("open the database: there is no path to it")
	}
	if path, err = filepath.Abs(path); err != nil {
		return d, fmt.Errorf("find the database %s: %w", path, err)
	}
	if err := touch(path); err != nil {
		return d, err
	}
	write, err := sqlitePool(path, writePragmas, 1)
	if err != nil {
		return d, err
	}
	read, err := sqlitePool(path, readPragmas, o.Readers)
	if err != nil {
		return d, err
	}
	lock, err := lockFile(ctx, path)
	if err != nil {
		return d, err
	}
	d = database{
		write:    write,
		read:     read,
		lock:     lock,
		snapshot: &sql.TxOptions{ReadOnly: true},
		dialect:  goose.DialectSQLite3,
		words:    strings.NewReplacer(),
		mark:     func(int) string { return "?" },
		rows:     []int{64, 8, 1},
		size:     `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`,
		reclaim:  []string{`PRAGMA incremental_vacuum`},
	}
	if err := d.write.PingContext(ctx); err != nil {
		return database{}, errors.Join(fmt.Errorf("open the database %s: %w", path, err), d.close())
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
func sqlitePool(path string, pragmas []string, connections int) (*sql.DB, error) {
	options := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: options.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
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
	pool, err := sqlitePool(path, []string{"journal_mode(memory)"}, 1)
	if err != nil {
		return nil, err
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
