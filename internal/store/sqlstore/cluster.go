package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/unloop-ai/unloop/internal/store"
)

// Partitions is the number of partitions of a cluster. It is part of the numbers of runs and of the subjects of the stream, so it is
// the same for all clusters.
const Partitions = 64

// Settings of the writing connections of a cluster.
const (
	clusterWriters    = 6    // connections of a server
	idleInTransaction = "5s" // a server that is suspended in a transaction loses it, so that its locks block no other server
)

// takeSharedLock takes the lock that a single server would hold alone. So no single server writes beside a cluster.
func takeSharedLock(ctx context.Context, conn *pgx.Conn) error {
	if err := lockDatabase(ctx, conn, "pg_advisory_lock_shared"); err != nil { // the caller gets no connection to close
		return errors.Join(fmt.Errorf("lock the database: %w", err), conn.Close(ctx))
	}
	return nil
}

// migrationClass is the first half of the key of the lock under which one server of a cluster migrates: "unlm".
const migrationClass = 0x756e6c6d

// alone calls do while no other server of the cluster does.
func (s *Store) alone(ctx context.Context, do func() error) (err error) {
	if !s.cluster {
		return do()
	}
	conn, err := s.read.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to lock the tables: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock($1, hashtext(current_schema()))`, migrationClass); err != nil {
		return fmt.Errorf("lock the tables: %w", err)
	}
	err = do()
	_, failed := conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1, hashtext(current_schema()))`, migrationClass)
	return errors.Join(err, failed)
}

// checkCluster marks an empty database as that of a cluster, and returns store.ErrShared if the database is used in the other way. The
// only in a cluster, the number of a run determines its partition.
func (s *Store) checkCluster(ctx context.Context) error {
	var marked []byte
	err := s.write.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = 'partitions'`).Scan(&marked)
	switch {
	case err == nil && s.cluster:
		return nil
	case err == nil:
		return fmt.Errorf("%w: the database has runs of a cluster; start the server with --cluster", store.ErrShared)
	case !errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("read whether the database is of a cluster: %w", err)
	case !s.cluster:
		return nil
	}
	var used bool
	if err := s.write.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM runs)`).Scan(&used); err != nil {
		return fmt.Errorf("look for runs of a single server: %w", err)
	}
	if used {
		return fmt.Errorf("%w: the database has runs of a single server; give the cluster an empty one", store.ErrShared)
	}
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin to make the partitions: %w", err)
	}
	if err := makePartitions(ctx, tx, s.partitions); err != nil {
		return errors.Join(fmt.Errorf("make the partitions: %w", err), tx.Rollback())
	}
	return tx.Commit()
}

func makePartitions(ctx context.Context, tx *sql.Tx, partitions int) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('partitions', $1)`, []byte(strconv.Itoa(partitions)))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO partitions (id, owner, epoch, stream, sequence, arrival, number, flushed)
		SELECT id, '', 0, '', 0, id, id, 0 FROM generate_series(0, CAST($1 AS BIGINT) - 1) AS id`, partitions)
	return err
}
