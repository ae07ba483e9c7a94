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

// The pragmas of a connection, in the order in which they are set. The first three affect only a new file, and auto_vacuum takes
// the write lock. Reading connections omit them, so that another program that writes to the database does not block readers. A
// checkpoint runs when the log has 64 MiB. A larger log means fewer writes, because the same pages change again and again.
var (
	writePragmas = []string{
		"page_size(4096)", "auto_vacuum(incremental)", "journal_mode(wal)", "busy_timeout(10000)", "temp_store(memory)",
		"synchronous(full)", "cache_size(-65536)", "wal_autocheckpoint(16000)", "journal_size_limit(67108864)",
	}
	readPragmas = []string{"busy_timeout(10000)", "temp_store(memory)", "query_only(1)", "cache_size(-8192)"}
)

// openSQLite opens the file for its owner only, and creates it if it does not exist. It locks the file before it writes anything.
func openSQLite(ctx context.Context, path string, o Options) (d database, err error) {
	if path == "" {
		return d, errors.New("open the database: the path is empty")
	}
	if path, err = canonical(path); err != nil {
		return d, err
	}
	if o.Readers < 1 {
		o.Readers = 4
	}
	_, missing := os.Stat(path + lockEnd)
	lock, err := lockFile(ctx, path)
	if err != nil {
		return d, err
	}
	file, err := openFile(path)
	if err != nil {
		return d, errors.Join(err, lock.Close())
	}
	d.lock, d.file = closers{file, lock}, file
	if d.write, err = sqlitePool(path, writePragmas, 1, file.check); err != nil {
		return database{}, errors.Join(err, d.lock.Close())
	}
	if d.read, err = sqlitePool(path, readPragmas, o.Readers, file.check); err != nil {
		return database{}, errors.Join(err, d.write.Close(), d.lock.Close())
	}
	if err := checkOwner(ctx, path, d.read); err != nil {
		err = errors.Join(err, d.close())
		if missing != nil {
			err = errors.Join(err, os.Remove(path+lockEnd))
		}
		return database{}, err
	}
	d.snapshot = &sql.TxOptions{ReadOnly: true}
	d.dialect = goose.DialectSQLite3
	d.words = strings.NewReplacer()
	d.mark = func(int) string { return "?" }
	d.insertInto = "INSERT OR FAIL INTO " // a failed statement ends its transaction, so SQLite need not be able to undo it by itself
	d.rows = []int{64, 8, 1}
	d.size = `SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size`
	d.reclaim = []string{`PRAGMA incremental_vacuum`}
	d.otherMigrations, d.position, d.search = ".postgres.sql", "instr", sqliteSearch
	d.changes, d.latest, d.since = true, "MAX(arrival, changed)", sinceChanged
	d.sameEvent = `events.arrival = COALESCE((SELECT e.arrival FROM events e WHERE e.run = given.column2 AND e.changed = given.column1 AND e.changed > 0),
		given.column1) AND MAX(events.arrival, events.changed) = given.column1 AND events.run = given.column2`
	d.scanRuns, d.idleRuns = "runs INDEXED BY runs_list", "runs INDEXED BY runs_idle"
	if err := d.write.PingContext(ctx); err != nil {
		return database{}, errors.Join(fmt.Errorf("open the database %s: %w", path, err), d.close())
	}
	return d, nil
}

// checkOwner returns an error for a file that another program has written.
func checkOwner(ctx context.Context, path string, read *sql.DB) error {
	var names string
	err := read.QueryRowContext(ctx, `SELECT coalesce(group_concat(name, '/'), '') FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'`).Scan(&names)
	if isCode(err, sqlite3.SQLITE_NOTADB) {
		return fmt.Errorf("open the database %s: the file is not a SQLite database: name another file, which is created", path)
	}
	if err != nil {
		return fmt.Errorf("open the database %s: %w", path, err)
	}
	tables := strings.FieldsFunc(names, func(c rune) bool { return c == '/' }) // none without a name
	// A server that was killed at its first start leaves nothing, or the table with the version alone.
	versioned := slices.Contains(tables, "goose_db_version")
	if len(tables) == 0 || versioned && (len(tables) == 1 || slices.Contains(tables, "runs") && slices.Contains(tables, "events")) {
		return nil
	}
	return fmt.Errorf("open the database %s: it belongs to another program: name another file, which is created", path)
}

func isCode(err error, code int) bool {
	var failure *sqlite.Error
	return errors.As(err, &failure) && failure.Code()&0xff == code
}

// closers are closed in order.
type closers []io.Closer

// Close closes all.
func (c closers) Close() (err error) {
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// sqlitePool returns a pool of connections that stay open. It opens connections when they are used, unless check returns an
// error.
func sqlitePool(path string, pragmas []string, connections int, check func() error) (*sql.DB, error) {
	options := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}, "mode": {"rw"}}
	address := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: options.Encode()}
	connector, err := sqlite.NewConnector(address.String())
	if err != nil {
		return nil, fmt.Errorf("open the database %s: %w", path, err)
	}
	pool := sql.OpenDB(checkedConnector{connector, check})
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool, nil
}

// lockEnd is the end of the name of the lock file.
const lockEnd = ".lock"

// lockFile locks the database against other stores in this process and in others, until the lock is closed or the process ends.
// The lock is an open transaction on an empty database beside it, because SQLite supports the file locks of every system.
func lockFile(ctx context.Context, path string) (io.Closer, error) {
	path += lockEnd
	if err := touch(path); err != nil {
		return nil, err
	}
	pool, err := sqlitePool(path, []string{"journal_mode(memory)"}, 1, func() error { return nil })
	if err != nil {
		return nil, err
	}
	_, err = pool.ExecContext(ctx, "BEGIN EXCLUSIVE")
	switch {
	case isCode(err, sqlite3.SQLITE_BUSY):
		err = store.ErrInUse
	case isCode(err, sqlite3.SQLITE_CANTOPEN):
		err = errors.New("it cannot be opened: this user must be able to read and write it")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the database with %s: %w", path, err), pool.Close())
	}
	return pool, nil
}
