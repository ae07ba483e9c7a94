package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/unloop-ai/unloop/internal/store"
)

// lockClass is the first half of the advisory lock's key: "unlo". The second half is a hash of the schema's name.
const lockClass = 0x756e6c6f

// noLock replaces the lock file, because the writing connection holds the lock.
type noLock struct{}

func (noLock) Close() error { return nil }

// writerLease detects that another server has used the database. Each server writes its name when it starts.
type writerLease struct {
	name atomic.Pointer[string] // nil until the tables exist
}

// acquire writes the name of the server. The caller holds the lock.
func (t *writerLease) acquire(ctx context.Context, write *sql.DB) error {
	name := rand.Text()
	_, err := write.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('server', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(name))
	if err != nil {
		return fmt.Errorf("write the writer lease: %w", err)
	}
	t.name.Store(&name)
	return nil
}

// check returns store.ErrFenced if another server has written its name. The caller holds the lock.
func (t *writerLease) check(ctx context.Context, conn *pgx.Conn) error {
	own := t.name.Load()
	if own == nil {
		return nil
	}
	var latest []byte
	if err := conn.QueryRow(ctx, `SELECT value FROM settings WHERE name = 'server'`).Scan(&latest); err != nil {
		return fmt.Errorf("read the writer lease: %w", err)
	}
	if string(latest) != *own {
		return store.ErrFenced
	}
	return nil
}

// The limits of PostgreSQL for statements and idle transactions, in milliseconds, unless the URL sets them. Migrations have none.
var (
	readLimits  = map[string]string{"statement_timeout": "30000", "idle_in_transaction_session_timeout": "60000"}
	writeLimits = map[string]string{"statement_timeout": "60000", "idle_in_transaction_session_timeout": "60000"}
)

// poolSize is the parameter of the URL that sets the number of connections: one writes, the others read.
const poolSize = "pool_max_conns"

// defaultReaders is the number of reading connections without the parameter.
const defaultReaders = 8

// openPostgres connects to the server.
func openPostgres(ctx context.Context, address string, o Options) (d database, err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return d, fmt.Errorf("parse the URL of the database: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "unloop"
	}
	readers, err := readersOf(config, o)
	if err != nil {
		return d, err
	}
	writer := config.Copy()
	writer.RuntimeParams["synchronous_commit"] = "on"
	limited(writer, writeLimits)
	limited(config, readLimits)
	self := new(writerLease)
	connections, lock := 1, self.takeLock
	if o.Cluster {
		self, connections, lock = nil, clusterWriters, takeSharedLock
		writer.RuntimeParams["idle_in_transaction_session_timeout"] = idleInTransaction
	}
	d = database{
		write:    postgresPool(writer, connections, stdlib.OptionAfterConnect(lock)),
		lease:    self,
		read:     postgresPool(config, readers),
		lock:     noLock{},
		days:     &days{exist: map[int64]bool{}},
		snapshot: &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		dialect:  goose.DialectPostgres,
		words: strings.NewReplacer("INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION", "BLOB", "BYTEA",
			"TEXT", `TEXT COLLATE "C"`, "json_object(", "json_build_object("),
		copies:     true,
		insertInto: "INSERT INTO ",
		mark:       func(k int) string { return "$" + strconv.Itoa(k) },
		rows:       []int{512, 64, 8, 1},
		size:       `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM runs`,
		reclaim:    []string{`SET statement_timeout = 0`, `VACUUM events, runs, warnings, decisions, checkpoints, spans, traces, search`, `RESET statement_timeout`},
		unlimited:  "SET LOCAL statement_timeout = 0;\n",

		otherMigrations: ".sqlite.sql", scanRuns: "runs", idleRuns: "runs", position: "strpos", within: "run = $1 AND ", search: postgresSearch,
		latest: "arrival", since: `SELECT arrival AS place, arrival AS latest FROM events WHERE run = $1 AND arrival > $2 ORDER BY arrival LIMIT $3`,
		sameEvent: "events.arrival = given.column1 AND events.run = given.column2",
	}
	if o.Cluster {
		d.leases = postgresPool(writer, 1)
	}
	if err := d.write.PingContext(ctx); err != nil {
		return database{}, errors.Join(fmt.Errorf("connect to the database: %w", err), d.close())
	}
	return d, nil
}

// readersOf returns the number of reading connections, and removes the parameter that sets it, which is not one of the server.
func readersOf(config *pgx.ConnConfig, o Options) (int, error) {
	text, set := config.RuntimeParams[poolSize]
	delete(config.RuntimeParams, poolSize)
	if set {
		size, err := strconv.Atoi(text)
		if err != nil || size < 2 || size > 1000 {
			return 0, fmt.Errorf("invalid parameter %s=%q in the URL of the database: want a number from 2 to 1000", poolSize, text)
		}
		return size - 1, nil
	}
	if o.Readers > 0 {
		return o.Readers, nil
	}
	return defaultReaders, nil
}

// limited sets limits that the URL does not set.
func limited(config *pgx.ConnConfig, limits map[string]string) {
	for name, value := range limits {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
}

func postgresPool(config *pgx.ConnConfig, connections int, options ...stdlib.OptionOpenDB) *sql.DB {
	pool := stdlib.OpenDB(*config, options...)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool
}

// claimTime is the maximum wait for the lock. PostgreSQL needs some time to notice that a killed server has disconnected.
const claimTime = "5s"

// lockNotAvailable is the error code of PostgreSQL for a lock timeout.
const lockNotAvailable = "55P03"

// lockDatabase takes the lock of the database for the life of the connection: by pg_advisory_lock or by pg_advisory_lock_shared.
func lockDatabase(ctx context.Context, conn *pgx.Conn, function string) error {
	_, err := conn.Exec(ctx, `SET lock_timeout = '`+claimTime+`'`)
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT `+function+`($1, hashtext(current_schema()))`, lockClass)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `RESET lock_timeout`)
	}
	if failure := (*pgconn.PgError)(nil); errors.As(err, &failure) && failure.Code == lockNotAvailable {
		return store.ErrInUse
	}
	return err
}

// takeLock takes the lock that keeps out other servers, for the life of the connection. Each new writing connection takes it and
// checks the lease. A server that lost its connection therefore cannot write after another server has.
func (t *writerLease) takeLock(ctx context.Context, conn *pgx.Conn) error {
	err := lockDatabase(ctx, conn, "pg_advisory_lock")
	if err == nil {
		err = t.check(ctx, conn)
	}
	if err != nil { // the caller gets no connection to close
		return errors.Join(fmt.Errorf("lock the database: %w", err), conn.Close(ctx))
	}
	return nil
}
