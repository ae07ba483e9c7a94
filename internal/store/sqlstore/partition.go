package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// commitTime is the maximum time of a commit of a partition. Whoever resumes the stream of all runs relies on it: an event is visible
// soon after it got its arrival, or never.
const commitTime = 15 * time.Second

// Partition is the view of a store through which the owner of a partition writes. A commit writes the position of the partition's
// stream in the same transaction, and only if the epoch of the partition is still that of the owner.
//
// After a failed commit every other one fails with store.ErrPartition. Otherwise a later commit could move the position beyond messages
// that were not written.
type Partition struct {
	*Store
	id    int
	epoch int64
	dead  atomic.Bool
}

// Partition returns a view of a partition for its owner in an epoch.
func (s *Store) Partition(id int, epoch int64) *Partition {
	own := &Store{database: s.database, bulks: s.bulks, searchable: s.searchable, cluster: true, partitions: s.partitions}
	return &Partition{Store: own, id: id, epoch: epoch}
}

// Position is how far a partition is.
type Position struct {
	Stream   string // that Sequence is of
	Sequence uint64 // of the last message that was recorded
}

// Position returns how far the partition is.
func (p *Partition) Position(ctx context.Context) (at Position, err error) {
	err = p.read.QueryRowContext(ctx, `SELECT stream, sequence FROM partitions WHERE id = $1`, p.id).Scan(&at.Stream, &at.Sequence)
	if err != nil {
		return at, fmt.Errorf("read the position of partition %d: %w", p.id, err)
	}
	return at, nil
}

// Restart sets the position to the beginning of another stream.
func (p *Partition) Restart(ctx context.Context, stream string) error {
	result, err := p.write.ExecContext(ctx, `UPDATE partitions SET stream = $3, sequence = 0 WHERE id = $1 AND epoch = $2`, p.id, p.epoch, stream)
	if err != nil {
		return fmt.Errorf("restart partition %d: %w", p.id, err)
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(store.ErrPartition, err)
	}
	return nil
}

// Last returns the latest arrival and the latest number of a run of the partition.
func (p *Partition) Last(ctx context.Context) (arrival, run int64, err error) {
	err = p.read.QueryRowContext(ctx, `SELECT arrival, number FROM partitions WHERE id = $1`, p.id).Scan(&arrival, &run)
	if err != nil {
		return 0, 0, fmt.Errorf("read the last arrival of partition %d: %w", p.id, err)
	}
	return arrival, run, nil
}

// Idle is Store.Idle for the runs of the partition.
func (p *Partition) Idle(ctx context.Context, before time.Time, limit int) ([]string, error) {
	ids, err := p.runIDs(ctx, `SELECT id FROM runs WHERE status = 'running' AND updated < $1 AND number % $2 = $3 ORDER BY updated, number LIMIT $4`,
		toNanos(before), p.partitions, p.id, limit)
	if err != nil {
		return nil, fmt.Errorf("read idle runs: %w", err)
	}
	return ids, nil
}

// Refolding is Store.Refolding for the runs of the partition.
func (p *Partition) Refolding(ctx context.Context) ([]string, error) {
	ids, err := p.runIDs(ctx, `SELECT id FROM runs WHERE refold <> '' AND number % $1 = $2 ORDER BY number`, p.partitions, p.id)
	if err != nil {
		return nil, fmt.Errorf("list the runs to refold: %w", err)
	}
	return ids, nil
}

// Unflushed is Store.Unflushed for the runs of the partition.
func (p *Partition) Unflushed(ctx context.Context) (ids []string, err error) {
	ids, err = p.runIDs(ctx, `SELECT id FROM runs WHERE number IN (SELECT run FROM events, partitions WHERE partitions.id = $1
		AND partitions.flushed < partitions.arrival AND events.arrival > partitions.flushed AND run % $2 = $1) ORDER BY number`, p.id, p.partitions)
	if err != nil {
		return nil, fmt.Errorf("list the runs with rows that are due: %w", err)
	}
	return ids, nil
}

// Commit is Store.Commit for the owner of the partition.
func (p *Partition) Commit(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	err = p.transaction(ctx, func(ctx context.Context, w *writing) error {
		if duplicates, err = p.writeBatch(ctx, w, b); err != nil {
			return err
		}
		return p.advance(ctx, w, []*store.Batch{b})
	})
	if err != nil {
		return nil, err
	}
	return duplicates, nil
}

// CommitTogether is Store.CommitTogether for the owner of the partition.
func (p *Partition) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	return p.transaction(ctx, func(ctx context.Context, w *writing) error {
		for _, b := range batches {
			doubled, err := p.writeBatch(ctx, w, b)
			if err != nil {
				return err
			}
			if len(doubled) > 0 {
				return store.ErrDuplicate
			}
		}
		return p.advance(ctx, w, batches)
	})
}

// writeBatch writes a batch but its Flushed, which advance writes to the row of the partition.
func (p *Partition) writeBatch(ctx context.Context, w *writing, b *store.Batch) (duplicates []store.EventRef, err error) {
	own := *b
	own.Flushed = 0
	return w.batch(ctx, &own)
}

func (p *Partition) transaction(ctx context.Context, write func(ctx context.Context, w *writing) error) error {
	if p.dead.Load() {
		return store.ErrPartition
	}
	bounded, cancel := context.WithTimeout(ctx, commitTime)
	defer cancel()
	err := p.Store.transaction(bounded, func(w *writing) error { return write(bounded, w) })
	if err == nil || errors.Is(err, store.ErrDuplicate) {
		return err
	}
	p.dead.Store(true)
	return errors.Join(store.ErrPartition, err)
}

// advance writes how far the partition is, last in the transaction: the row is locked only until the commit.
func (p *Partition) advance(ctx context.Context, w *writing, batches []*store.Batch) error {
	var sequence uint64
	var arrival, number, flushed int64
	for _, b := range batches {
		sequence, flushed = max(sequence, b.Sequence), max(flushed, b.Flushed)
		for k := range b.Events {
			arrival = max(arrival, b.Events[k].Arrival)
		}
		for k := range b.Runs {
			arrival, number = max(arrival, b.Runs[k].Arrival), max(number, b.Runs[k].Number)
		}
	}
	result, err := w.tx.ExecContext(ctx, `UPDATE partitions SET sequence = GREATEST(sequence, $3), arrival = GREATEST(arrival, $4),
		number = GREATEST(number, $5), flushed = GREATEST(flushed, $6) WHERE id = $1 AND epoch = $2`,
		p.id, p.epoch, int64(sequence), arrival, number, flushed)
	if err != nil {
		return fmt.Errorf("write the position of partition %d: %w", p.id, err)
	}
	rows, err := result.RowsAffected()
	if err == nil && rows == 0 {
		err = fmt.Errorf("partition %d has another owner", p.id)
	}
	return err
}
