package sqlstore

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

const checkpointColumns = "run, at_sequence, at_time, at_tie, events, state"

type place struct {
	run int64
	at  store.Position
}

// checkpoints writes checkpoints.
func (w *writing) checkpoints(ctx context.Context, checkpoints []store.Checkpoint) error {
	checkpoints = lasts(checkpoints, func(c *store.Checkpoint) place { return place{c.Run, c.Position} })
	return insert(ctx, w, &w.bulks.checkpoints, checkpoints, func(to []any, c *store.Checkpoint) []any {
		p := &c.Position
		state := c.State
		if state == nil {
			state = []byte{}
		}
		return append(to, c.Run, p.Sequence, p.Time, p.Tie, int64(c.Events), state)
	}, nil)
}

// prune deletes checkpoints.
func (w *writing) prune(ctx context.Context, pruned []store.Checkpoint) error {
	for _, c := range pruned {
		p := c.Position
		err := w.exec(ctx, "drop a checkpoint",
			`DELETE FROM checkpoints WHERE run = $1 AND at_sequence = $2 AND at_time = $3 AND at_tie = $4`, c.Run, p.Sequence, p.Time, p.Tie)
		if err != nil {
			return err
		}
	}
	return nil
}

// Checkpoints returns the run's checkpoints in the order of their positions.
func (s *Store) Checkpoints(ctx context.Context, run int64) (checkpoints []store.Checkpoint, err error) {
	query := `SELECT ` + checkpointColumns + ` FROM checkpoints WHERE run = $1 ORDER BY at_sequence, at_time, at_tie`
	err = s.each(ctx, query, []any{run}, func(row scanner) error {
		var c store.Checkpoint
		p := &c.Position
		err := row.Scan(&c.Run, &p.Sequence, &p.Time, &p.Tie, &c.Events, &c.State)
		checkpoints = append(checkpoints, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the checkpoints of a run: %w", err)
	}
	return checkpoints, nil
}
