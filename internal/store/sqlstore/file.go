package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/store"
)

// databaseFile is the file of the database. SQLite continues to write to a file that was deleted or replaced, and such writes are
// lost. The store therefore compares the files at the path with those that it has open.
type databaseFile struct {
	path  string
	open  *os.File // keeps the inode number from being reused, and holds the lock
	info  fs.FileInfo
	moved atomic.Bool // permanent, because the later state of the log is unknown

	mu  sync.Mutex
	log fs.FileInfo // of the write-ahead log; nil until it exists
}

// openFile opens and locks the file. The lock keeps out servers that open it by another path. The file is closed after all
// connections of SQLite: on POSIX systems, closing any descriptor of a file drops the locks that SQLite holds on it.
func openFile(path string) (*databaseFile, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = lockByte(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the database %s: %w", path, err), f.Close())
	}
	return &databaseFile{path: path, open: f, info: info}, nil
}

// Close unlocks the file. It may be called more than once.
func (d *databaseFile) Close() error {
	if err := d.open.Close(); !errors.Is(err, fs.ErrClosed) {
		return err
	}
	return nil
}

// check returns store.ErrMoved if the database or its write-ahead log was deleted or replaced. It costs two system calls.
func (d *databaseFile) check() error {
	if d.moved.Load() {
		return store.ErrMoved
	}
	err := sameFile(d.path, d.info)
	if err == nil {
		err = d.checkLog()
	}
	if errors.Is(err, store.ErrMoved) {
		d.moved.Store(true)
	}
	return err
}

// checkLog remembers the write-ahead log when it first exists. SQLite deletes the log when its last connection closes, and a
// store keeps its connections open.
func (d *databaseFile) checkLog() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.log != nil {
		return sameFile(d.path+"-wal", d.log)
	}
	info, err := os.Stat(d.path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("find the write-ahead log of the database: %w", err)
	}
	d.log = info
	return nil
}

func sameFile(path string, known fs.FileInfo) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(info, known):
		return store.ErrMoved
	case err != nil:
		return fmt.Errorf("find the files of the database: %w", err)
	}
	return nil
}

// checkedConnector opens no connection if the file of the database was replaced.
type checkedConnector struct {
	driver.Connector
	check func() error
}

// Connect implements driver.Connector.
func (c checkedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if moved := c.check(); moved != nil {
		if err == nil {
			err = conn.Close()
		}
		return nil, errors.Join(moved, err)
	}
	return conn, err
}

// canonical creates the file if it does not exist, and returns its path without symbolic links. SQLite derives the paths of the
// log and the lock from it.
func canonical(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the database %s: %w", path, err)
	}
	if err := touch(absolute); err != nil {
		return "", err
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return "", fmt.Errorf("find the database %s: %w", path, err)
	}
	return absolute, nil
}

// touch creates the file if it does not exist. The other files of SQLite get the same permissions. An existing file is not
// opened, because closing it would drop the locks of another store in this process.
func touch(path string) error {
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fmt.Errorf("open the database %s: its folder does not exist", path)
	}
	if info, err := os.Stat(path); err == nil {
		if info.IsDir() {
			return fmt.Errorf("open the database %s: it is a folder: name a file in it", path)
		}
		return nil
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
