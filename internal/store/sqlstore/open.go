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

// Options are the options of a store. The zero value is valid.
type Options struct {
	Readers  int  // connections that read at once; unless above 0, 4 for SQLite and 8 for PostgreSQL
	NoSearch bool // events are not indexed for full-text search, and what was indexed is deleted

	// Cluster opens a PostgreSQL database that several servers write to, each to the partitions that it owns.
	Cluster bool
}

// Store keeps records in a database. It is safe for concurrent use.
type Store struct {
	database

	mu      sync.Mutex // held by Commit
	bulks   bulks
	scratch []any // arguments of the statement that Commit is at

	searchable bool // events are indexed for full-text search
	cluster    bool // several servers write, each to partitions of its own
	partitions int  // Partitions; tests have a cluster of one
}

// database is the part that differs between SQLite and PostgreSQL.
type database struct {
	write      *sql.DB // one connection
	read       *sql.DB
	leases     *sql.DB        // one connection for what a cluster must write in time; nil elsewhere
	lock       io.Closer      // keeps other servers out
	lease      *writerLease   // nil if the lock cannot be lost
	file       *databaseFile  // nil if the database is not a file
	days       *days          // nil if tables have no partitions for days
	snapshot   *sql.TxOptions // of a transaction with a consistent snapshot
	dialect    goose.Dialect
	words      *strings.Replacer  // translates the SQL of the migrations
	mark       func(k int) string // the k-th placeholder of a long statement, from 1
	copies     bool               // writes many events with COPY
	insertInto string             // beginning of a statement that inserts many rows
	rows       []int              // numbers of rows of bulk statements, descending to 1
	size       string             // the query for Size
	reclaim    []string           // the statements of Reclaim, on one connection
	unlimited  string             // the beginning of a transaction that may take long

	otherMigrations string // how the names of migrations end that are for the other database
	scanRuns        string // the table of runs for queries that look at all of them
	idleRuns        string // the table of runs for the query of those that run and are idle
	position        string // the function that returns the position of a text in another, from 1
	within          string // a condition that leads to the partition of the run $1; in SQLite it would mislead to an index
	changes         bool   // an event that changes keeps its row
	latest          string // the latest arrival of an event
	since           string // selects place and latest of the first $3 events of the run $1 after the arrival $2: their keys and latest arrivals
	sameEvent       string // a condition: the event is that of the values given, which are its arrival and its run
	search          searchSQL
}

// Open opens a store: a SQLite database at a path, or a PostgreSQL database at a URL postgres://…. It creates the file if it does
// not exist, but not its folder, and migrates the tables. If another server uses the database, the error is store.ErrInUse.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	open := openSQLite
	switch {
	case strings.HasPrefix(dsn, "postgres://"), strings.HasPrefix(dsn, "postgresql://"):
		open = openPostgres
	case o.Cluster:
		return nil, errors.New("a cluster needs a database at postgres://…, which --db sets")
	}
	d, err := open(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	s := &Store{database: d, searchable: !o.NoSearch, cluster: o.Cluster, partitions: Partitions}
	err = s.start(ctx)
	if err != nil && d.file != nil { // an address of PostgreSQL can have a password
		err = fmt.Errorf("open the database %s: %w", d.file.path, err)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) (err error) {
	err = s.alone(ctx, func() error {
		if err := s.migrate(ctx); err != nil {
			return err
		}
		return s.checkCluster(ctx)
	})
	if err != nil {
		return err
	}
	if s.lease != nil {
		if err := s.lease.acquire(ctx, s.write); err != nil {
			return err
		}
	}
	if err := s.startDays(ctx); err != nil {
		return err
	}
	if s.bulks, err = s.prepareBulks(ctx); err != nil {
		return err
	}
	if _, _, err := s.Last(ctx); err != nil { // opens the log of SQLite
		return err
	}
	if !s.searchable {
		if err := s.clearSearch(ctx); err != nil {
			return err
		}
	}
	return s.intact()
}

// intact returns store.ErrMoved if writes would be lost.
func (d *database) intact() error {
	if d.file == nil {
		return nil
	}
	return d.file.check()
}

// Close waits for running queries and closes the store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.close(); err != nil {
		return fmt.Errorf("close the store: %w", err)
	}
	return nil
}

// close closes the writing connection last, so that SQLite can remove its log, and then releases the lock.
func (d *database) close() error {
	var leases error
	if d.leases != nil {
		leases = d.leases.Close()
	}
	return errors.Join(d.read.Close(), leases, d.write.Close(), d.lock.Close())
}
