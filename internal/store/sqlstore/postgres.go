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

// lockClass is the first half of the advisory lock's key: "unlo". The other half is made of the schema's name.
const lockClass = 0x756e6c6f

// noLock stands where the writing connection is the lock.
type noLock struct{}

func (noLock) Close() error { return nil }

// writerLease keeps a server from going on when another one has been there since it began: it wrote its name when it did.
type writerLease struct {
	name atomic.Pointer[string] // nil until the tables are there
}

// acquire writes the server's name. The lock is held.
func (t *writerLease) acquire(ctx context.Context, write *sql.DB) error {
	name := rand.Text()
	_, err := write.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('server', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(name))
	if err != nil {
		return fmt.Errorf("write down who uses the database: %w", err)
	}
	t.name.Store(&name)
	return nil
}

// check returns store.ErrFenced where another server has moved in. The lock is held.
func (t *writerLease) check(ctx context.Context, conn *pgx.Conn) error {
	own := t.name.Load()
	if own == nil {
		return nil
	}
	var latest []byte
	if err := conn.QueryRow(ctx, `SELECT value FROM settings WHERE name = 'server'`).Scan(&latest); err != nil {
		return fmt.Errorf("read who uses the database: %w", err)
	}
	if string(latest) != *own {
		return store.ErrFenced
	}
	return nil
}

// openPostgres connects to the server.
func openPostgres(ctx context.Context, address string, o Options) (d database, err error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		return d, fmt.Errorf("read the database's address: %w", err)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 10 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "unloop"
	}
	writer := config.Copy()
	writer.RuntimeParams["synchronous_commit"] = "on"
	self := new(writerLease)
	d = database{
		write:    postgresPool(writer, 1, stdlib.OptionAfterConnect(self.takeLock)),
		lease:    self,
		read:     postgresPool(config, o.Readers),
		lock:     noLock{},
		snapshot: &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		dialect:  goose.DialectPostgres,
		words: strings.NewReplacer("INTEGER", "BIGINT", "REAL", "DOUBLE PRECISION", "BLOB", "BYTEA",
			"TEXT", `TEXT COLLATE "C"`, "json_object(", "json_build_object("),
		copies:     true,
		insertInto: "INSERT INTO ",
		mark:       func(k int) string { return "$" + strconv.Itoa(k) },
		rows:       []int{512, 64, 8, 1},
		size:       `SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM runs`,
		reclaim:    []string{`VACUUM events`, `VACUUM runs`, `VACUUM warnings`, `VACUUM decisions`, `VACUUM checkpoints`, `VACUUM spans`, `VACUUM traces`},
	}
	if err := d.write.PingContext(ctx); err != nil {
		return database{}, errors.Join(fmt.Errorf("connect to the database: %w", err), d.close())
	}
	return d, nil
}

func postgresPool(config *pgx.ConnConfig, connections int, options ...stdlib.OptionOpenDB) *sql.DB {
	pool := stdlib.OpenDB(*config, options...)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	return pool
}

// claimTime is how long the lock is waited for: PostgreSQL takes a moment to see that a server is gone which was killed.
const claimTime = "5s"

// lockNotAvailable is PostgreSQL's code for a lock that was not free in time.
const lockNotAvailable = "55P03"

// takeLock takes the lock that keeps other servers out, for as long as the connection lives. Each new writing connection has to
// take it, so that a server which lost its own cannot write beside the one that came after it, nor after that.
func (t *writerLease) takeLock(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SET lock_timeout = '`+claimTime+`'`)
	if err == nil {
		_, err = conn.Exec(ctx, `SELECT pg_advisory_lock($1, hashtext(current_schema()))`, lockClass)
	}
	if err == nil {
		_, err = conn.Exec(ctx, `RESET lock_timeout`)
	}
	if failure := (*pgconn.PgError)(nil); errors.As(err, &failure) && failure.Code == lockNotAvailable {
		err = store.ErrInUse
	}
	if err == nil {
		err = t.check(ctx, conn)
	}
	if err != nil { // nobody else closes the connection then
		return errors.Join(fmt.Errorf("lock the database: %w", err), conn.Close(ctx))
	}
	return nil
}
