package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// leaseTime is how long a server is taken for alive after its last Renew, by the clock of the database.
const leaseTime = 3 * time.Second

// alive is the condition on a row of servers whose lease has not ended. A lease beyond twice leaseTime was renewed before the clock of the
// database was set back. Without this bound, the partitions of a server that then failed would be free only when the clock is there again.
const alive = `expires > clock_timestamp() AND expires <= clock_timestamp() + INTERVAL '6 s'`

// Owned is what a server owns.
type Owned struct {
	Epochs  map[int]int64 // by partition
	Surplus int           // of these partitions, how many are more than the server's share
	Now     time.Time     // by the clock of the database
}

// Renew renews the lease of a server and returns the partitions that it owns. If it works on partitions, it takes free ones up to its
// share. A partition is free if it has no owner or one whose lease has ended. Each new owner begins a new epoch.
func (s *Store) Renew(ctx context.Context, server store.Server) (owned Owned, err error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTime)
	defer cancel()
	tx, err := s.leases.BeginTx(ctx, nil)
	if err != nil {
		return owned, fmt.Errorf("begin to renew a lease: %w", err)
	}
	if owned, err = s.renew(ctx, tx, server); err != nil {
		return owned, errors.Join(fmt.Errorf("renew a lease: %w", err), tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return owned, fmt.Errorf("finish to renew a lease: %w", err)
	}
	return owned, nil
}

func (s *Store) renew(ctx context.Context, tx *sql.Tx, server store.Server) (owned Owned, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO servers (name, address, works, expires) VALUES ($1, $2, $3, clock_timestamp() + CAST($4 AS BIGINT) * INTERVAL '1 ms')
		ON CONFLICT (name) DO UPDATE SET address = excluded.address, works = excluded.works, expires = excluded.expires
		RETURNING clock_timestamp()`, server.Name, server.Address, server.Works, leaseTime.Milliseconds()).Scan(&owned.Now)
	if err != nil {
		return owned, err
	}
	if owned.Epochs, err = epochs(ctx, tx, `SELECT id, epoch FROM partitions WHERE owner = $1`, server.Name); err != nil || !server.Works {
		return owned, err
	}
	var workers int
	if err := tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM servers WHERE works AND `+alive).Scan(&workers); err != nil {
		return owned, err
	}
	share := (s.partitions + workers - 1) / max(workers, 1)
	if owned.Surplus = len(owned.Epochs) - share; owned.Surplus >= 0 {
		return owned, nil
	}
	taken, err := epochs(ctx, tx, `UPDATE partitions SET owner = $1, epoch = epoch + 1 WHERE id IN (SELECT id FROM partitions
		WHERE owner NOT IN (SELECT name FROM servers WHERE `+alive+`) ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED)
		RETURNING id, epoch`, server.Name, -owned.Surplus)
	for id, epoch := range taken {
		owned.Epochs[id] = epoch
	}
	owned.Surplus = 0
	return owned, err
}

// epochs returns the rows of a query of partitions and their epochs.
func epochs(ctx context.Context, tx *sql.Tx, query string, args ...any) (map[int]int64, error) {
	all := make(map[int]int64)
	err := eachRow(ctx, tx, query, args, func(row scanner) error {
		var id int
		var epoch int64
		err := row.Scan(&id, &epoch)
		all[id] = epoch
		return err
	})
	return all, err
}

// Release gives up partitions that the server owns, so that another one takes them.
func (s *Store) Release(ctx context.Context, server string, partitions []int) error {
	for _, id := range partitions {
		if _, err := s.leases.ExecContext(ctx, `UPDATE partitions SET owner = '' WHERE id = $1 AND owner = $2`, id, server); err != nil {
			return fmt.Errorf("release partition %d: %w", id, err)
		}
	}
	return nil
}

// Leave gives up all that the server owns, and its lease. It also forgets servers whose lease ended long ago.
func (s *Store) Leave(ctx context.Context, server string) error {
	for _, query := range []string{
		`UPDATE partitions SET owner = '' WHERE owner = $1`,
		`DELETE FROM servers WHERE name = $1 OR expires NOT BETWEEN clock_timestamp() - INTERVAL '1 hour' AND clock_timestamp() + INTERVAL '1 hour'`,
	} {
		if _, err := s.leases.ExecContext(ctx, query, server); err != nil {
			return fmt.Errorf("leave the cluster: %w", err)
		}
	}
	return nil
}

// Cluster returns the servers that are alive and the partitions, each in its order.
func (s *Store) Cluster(ctx context.Context) (servers []store.Server, partitions []store.Partition, err error) {
	err = eachRow(ctx, s.leases, `SELECT name, address, works FROM servers WHERE `+alive+` ORDER BY address, name`, nil, func(row scanner) error {
		var x store.Server
		err := row.Scan(&x.Name, &x.Address, &x.Works)
		servers = append(servers, x)
		return err
	})
	if err == nil {
		err = eachRow(ctx, s.leases, `SELECT id, owner, epoch, sequence FROM partitions ORDER BY id`, nil, func(row scanner) error {
			var x store.Partition
			err := row.Scan(&x.ID, &x.Owner, &x.Epoch, &x.Sequence)
			partitions = append(partitions, x)
			return err
		})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read the state of the cluster: %w", err)
	}
	return servers, partitions, nil
}
