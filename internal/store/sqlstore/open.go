package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/pressly/goose/v3"
)

// Options are what a store can be told beside where it is. Its zero value is good.
type Options struct {
	Readers int // connections that read at once; 4 unless above 0
}

// Store keeps records in a database. Its methods may be used by many goroutines.
type Store struct {
	database

	mu      sync.Mutex // held by Commit
	bulks   bulks
	scratch []any // arguments of the statement that Commit is at
}

// database is what the two databases do not have in common.
type database struct {
	write      *sql.DB // of one connection
	read       *sql.DB
	lock       io.Closer      // keeps other servers out
	lease      *writerLease   // nil where the lock cannot be lost
	file       *databaseFile  // nil where the database is no file
	snapshot   *sql.TxOptions // of a transaction that reads one state
	dialect    goose.Dialect
	words      *strings.Replacer  // from the SQL of the migrations to this database's
	mark       func(k int) string // the k-th placeholder of a long statement, from 1
	copies     bool               // writes many events with COPY
	insertInto string             // the begin of a statement that inserts many rows
	rows       []int              // of statements that insert many, falling, and 1 the last
	size       string             // the query for Size
	reclaim    []string           // the statements of Reclaim
}

// Open opens the database at a path, which is made if it is not there, in a folder that must be, or at a URL postgres://…, and
// brings its tables to this version's form. A database that another server uses is store.ErrInUse.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	if o.Readers < 1 {
		o.Readers = 4
	}
	open := openSQLite
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		open = openPostgres
	}
	d, err := open(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	s := &Store{database: d}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) (err error) {
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if s.lease != nil {
		if err := s.lease.acquire(ctx, s.write); err != nil {
			return err
		}
	}
	if s.bulks, err = s.prepareBulks(ctx); err != nil {
		return err
	}
	if _, _, err := s.Last(ctx); err != nil { // which opens SQLite's log
		return err
	}
	return s.intact()
}

// intact returns store.ErrMoved where what is written now would be lost.
func (d *database) intact() error {
	if d.file == nil {
		return nil
	}
	return d.file.check()
}

// Close closes the store, once what runs has come to its end.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// close closes what writes last, so that SQLite can put its log away, and then lets other servers in.
func (d *database) close() error {
	return errors.Join(d.read.Close(), d.write.Close(), d.lock.Close())
}
