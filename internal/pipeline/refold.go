package pipeline

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// The bounds of a slice: the part of a run that is folded before the next run has its turn.
const (
	sliceEvents = 2048
	sliceBytes  = 8 << 20
)

// refold folds a marked run again, concurrently with the goroutine that records. It belongs to that goroutine or to refoldAll, one at a
// time, and shares no memory with the live run.
type refold struct {
	*runChange // the run as it is being folded; nil before the first slice
	id         string
	at         store.Position // position of the last event that was read
	stop       store.Position // position of the last event when the refold began
	ended      bool           // all events up to stop are folded
	deleted    bool           // the run was deleted, or has no mark
	work       time.Duration  // time spent so far
	err        error

	keeps bool                     // the events, if they are few
	whole map[string]*unloop.Event // by id, if not all of their content is stored; the events are immutable
}

// refoldAll folds one slice of each refold that it receives, until the channel is closed. Neither channel can be full: the recorder
// starts at most as many refolds as they have room for.
func (p *Pipeline) refoldAll(ctx context.Context, work <-chan *refold, done chan<- *refold) {
	for r := range work {
		began := time.Now()
		r.err = r.slice(ctx, p)
		r.work += time.Since(began)
		done <- r
	}
}

// errSlice ends a slice that has reached its size.
var errSlice = errors.New("the slice is full")

// slice folds the run's next events.
func (r *refold) slice(ctx context.Context, p *Pipeline) error {
	if r.runChange == nil {
		if err := r.begin(ctx, p); err != nil || r.deleted {
			return err
		}
	}
	events, bytes := 0, 0
	r.ended = true
	err := p.opts.Store.NextEvents(ctx, r.row.Number, r.at, p.refolds.slice+1, func(e *store.Event) error {
		if e.Position.Compare(r.stop) > 0 {
			return errSlice
		}
		if events == p.refolds.slice || bytes >= sliceBytes {
			r.ended = false
			return errSlice
		}
		events++
		bytes += len(e.Body)
		r.take(p, e)
		return nil
	})
	if errors.Is(err, errSlice) {
		return nil
	}
	return err
}

// take folds the next event of the run from the store.
func (r *refold) take(p *Pipeline, e *store.Event) {
	r.at = e.Position
	r.addStored(p, r.whole[e.ID], e)
}

// begin restores the last checkpoint that is valid under the mark of the run.
func (r *refold) begin(ctx context.Context, p *Pipeline) error {
	row, err := p.opts.Store.Run(ctx, r.id)
	if err != nil {
		return err
	}
	if row == nil || row.Refold == nil {
		r.deleted = true
		return nil
	}
	if r.stop, err = p.opts.Store.Furthest(ctx, row.Number); err != nil {
		return err
	}
	folded := &run{row: *row, stored: true, current: true, bare: p.opts.Content == NoContent}
	if err := p.resume(ctx, folded, func(at store.Position) bool { return at.Compare(row.Refold.Behind) <= 0 }); err != nil {
		return err
	}
	r.at = folded.fold.s.Furthest
	behind := r.at
	r.runChange = &runChange{run: folded, invalidated: &behind}
	if r.keeps && behind == store.Start {
		r.kept = new(kept)
	}
	return nil
}

// forgetBehind drops the checkpoints from a position on. It returns the position of the last remaining one.
func (t *runChange) forgetBehind(from store.Position) store.Position {
	isBehind := func(c store.Checkpoint) bool { return c.Position.Compare(from) >= 0 }
	left := slices.DeleteFunc(slices.Concat(t.pruned, t.checkpoints), isBehind)
	t.checkpointsMade = slices.DeleteFunc(t.checkpointsMade, isBehind)
	n := max(0, len(left)-2)
	t.pruned, t.checkpoints = left[:n], left[n:]
	if len(t.checkpoints) == 0 {
		return store.Start
	}
	return t.checkpoints[len(t.checkpoints)-1].Position
}
