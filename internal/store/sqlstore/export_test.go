package sqlstore

import (
	"context"
	"errors"
)

// OpenAt opens a PostgreSQL database whose tables have an earlier version. The columns are those that runs got later: a store writes
// all that it knows.
func OpenAt(ctx context.Context, dsn string, version int64, columns ...string) (*Store, error) {
	d, err := openPostgres(ctx, dsn, Options{})
	if err != nil {
		return nil, err
	}
	s := &Store{database: d}
	p, err := s.migrations()
	if err != nil {
		return nil, err
	}
	if _, err := p.UpTo(ctx, version); err != nil {
		return nil, err
	}
	for _, column := range columns {
		if _, err := s.write.ExecContext(ctx, "ALTER TABLE runs ADD COLUMN "+column); err != nil {
			return nil, err
		}
	}
	if err := s.lease.acquire(ctx, s.write); err != nil {
		return nil, err
	}
	s.days = nil
	s.bulks, err = s.prepareBulks(ctx)
	return s, err
}

// OpenPartitioned opens a PostgreSQL database as that of a cluster with so many partitions.
func OpenPartitioned(ctx context.Context, dsn string, partitions int) (*Store, error) {
	d, err := openPostgres(ctx, dsn, Options{Cluster: true})
	if err != nil {
		return nil, err
	}
	s := &Store{database: d, searchable: true, cluster: true, partitions: partitions}
	return s, s.start(ctx)
}

// OpenUnstarted opens a PostgreSQL database that exists, and reads nothing of its tables.
func OpenUnstarted(ctx context.Context, dsn string) (*Store, error) {
	d, err := openPostgres(ctx, dsn, Options{})
	if err != nil {
		return nil, err
	}
	s := &Store{database: d, searchable: true}
	s.bulks, err = s.prepareBulks(ctx)
	return s, err
}

// Limits returns the limits for statements of the writing and of the reading connections, and the number of these.
func (s *Store) Limits(ctx context.Context) (write, read string, readers int, err error) {
	if err := s.write.QueryRowContext(ctx, `SHOW statement_timeout`).Scan(&write); err != nil {
		return "", "", 0, err
	}
	err = s.read.QueryRowContext(ctx, `SHOW statement_timeout`).Scan(&read)
	return write, read, s.read.Stats().MaxOpenConnections, err
}

// IdlePlan returns how SQLite executes the query of idle runs.
func (s *Store) IdlePlan(ctx context.Context) (plan string, err error) {
	var id, parent, unused int
	err = s.read.QueryRowContext(ctx, "EXPLAIN QUERY PLAN "+s.idleQuery(), 1, 1).Scan(&id, &parent, &unused, &plan)
	return plan, err
}

// IndexAround indexes events as Index does, and calls between after it has read them.
func (s *Store) IndexAround(ctx context.Context, most int, between func()) error {
	after, err := indexedUpTo(ctx, s.read)
	if err != nil {
		return err
	}
	entries, again, err := s.next(ctx, after, most)
	if err != nil {
		return err
	}
	between()
	if len(entries) == 0 {
		return nil
	}
	return s.index(ctx, entries, again)
}

// MigrateTo migrates a SQLite database to an earlier version of the tables. A file that does not exist is created.
func MigrateTo(ctx context.Context, path string, version int64) error {
	d, err := openSQLite(ctx, path, Options{})
	if err != nil {
		return err
	}
	s := &Store{database: d}
	p, err := s.migrations()
	if err == nil {
		_, err = p.UpTo(ctx, version)
	}
	return errors.Join(err, s.Close())
}

// SearchSegments returns the number of segments of the full-text index of SQLite.
func (s *Store) SearchSegments(ctx context.Context) (n int, err error) {
	err = s.read.QueryRowContext(ctx, "SELECT COUNT(DISTINCT segid) FROM search_idx").Scan(&n)
	return n, err
}

// ClearSearch deletes the full-text index.
func (s *Store) ClearSearch(ctx context.Context) error { return s.clearSearch(ctx) }

// IndexedRows returns the number of events in the full-text index.
func (s *Store) IndexedRows(ctx context.Context) (n int, err error) {
	query := "SELECT COUNT(*) FROM search"
	if s.file != nil {
		query = "SELECT COUNT(*) FROM search_docsize"
	}
	err = s.read.QueryRowContext(ctx, query).Scan(&n)
	return n, err
}

// KeepIndexed makes the database refuse to delete how far events are indexed.
func (s *Store) KeepIndexed(ctx context.Context) error {
	queries := []string{
		`CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''kept''; END'`,
		`CREATE TRIGGER keep BEFORE DELETE ON settings FOR EACH ROW WHEN (OLD.name = 'indexed') EXECUTE FUNCTION keep()`,
	}
	if s.file != nil {
		queries = []string{`CREATE TRIGGER keep BEFORE DELETE ON settings WHEN OLD.name = 'indexed' BEGIN SELECT RAISE(ABORT, 'kept'); END`}
	}
	for _, query := range queries {
		if _, err := s.write.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}
