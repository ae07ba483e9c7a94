package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// worthWriting is after how many events since the last checkpoint a run that leaves memory is worth another.
const worthWriting = 256

// overMemory is how long a run stays in memory after its end.
const overMemory = 30 * time.Second

// over reports whether the run has ended, as far as is known.
func (r *run) over() bool { return r.row.Status != store.Running }

// tick sees to the runs that nothing comes for.
func (p *Pipeline) tick(ctx context.Context) {
	now := time.Now().UTC()
	if err := p.closeIdle(ctx, now.Add(-p.opts.IdleClose)); err != nil {
		p.logFailure("closing idle runs did not succeed", "error", err)
	}
	p.leaveMemory(ctx, func(r *run, left int) bool {
		idle := now.Sub(r.used)
		return left > p.opts.LiveRuns || idle > p.opts.IdleMemory || r.over() && idle > overMemory
	})
	p.traces.makeRoom(0, now.Add(-p.opts.IdleMemory))
	p.gauge()
}

// makeRoom puts the longest idle runs out of memory when there are too many, an eighth of them at once.
func (p *Pipeline) makeRoom(ctx context.Context) {
	p.traces.makeRoom(p.opts.TraceBytes, time.Time{})
	if len(p.live) > p.opts.LiveRuns {
		p.leaveMemory(ctx, func(_ *run, left int) bool { return left > p.opts.LiveRuns-p.opts.LiveRuns/8 })
	}
	p.gauge()
}

func (p *Pipeline) gauge() {
	p.opts.Metrics.Live.Set(float64(len(p.live)))
	p.opts.Metrics.Waiting.Set(float64(p.events.Load()))
}

// leaveMemory puts runs out of memory, the longest idle first, as long as out says so.
func (p *Pipeline) leaveMemory(ctx context.Context, out func(r *run, left int) bool) {
	var batch store.Batch
	var leaving []*run
	left := len(p.live)
	for at := p.used.Back(); at != nil; at = at.Prev() {
		r := at.Value.(*run)
		if !out(r, left) {
			continue
		}
		left--
		leaving = append(leaving, r)
		p.saveState(&batch, r)
		if p.unwritten[r.row.ID] != nil {
			p.writeRow(&batch, r)
		}
	}
	if len(batch.Checkpoints)+len(batch.Runs) > 0 {
		if _, err := p.commit(ctx, &batch); err != nil {
			p.logFailure("writing the states of idle runs did not succeed", "error", err)
			p.unwrite(&batch)
			return
		}
	}
	for _, r := range leaving {
		p.drop(r.row.ID)
	}
}

// saveState adds a checkpoint of the run to the batch, if it is worth that.
func (p *Pipeline) saveState(batch *store.Batch, r *run) {
	folded := 0
	if n := len(r.checkpoints); n > 0 {
		folded = r.checkpoints[n-1].Events
	}
	worth := worthWriting
	if r.over() {
		worth = checkpointEvery // nothing comes any more, as a rule
	}
	if !r.stored || !r.settled || r.fold.s.Events-folded < worth {
		return
	}
	t := touched{run: r}
	t.checkpoint(p)
	batch.Checkpoints = append(batch.Checkpoints, t.made...)
	batch.Thinned = append(batch.Thinned, t.thinned...)
}

// leave writes the states of all runs in memory.
func (p *Pipeline) leave(ctx context.Context) error {
	p.flush(ctx)
	p.leaveMemory(ctx, func(*run, int) bool { return true })
	return nil
}

// closeAtOnce is how many idle runs are closed in one commit.
const closeAtOnce = 200

// closeIdle takes the runs to be over for which nothing has come since a time.
func (p *Pipeline) closeIdle(ctx context.Context, since time.Time) error {
	ids, err := p.opts.Store.Idle(ctx, since, closeAtOnce)
	if err != nil || len(ids) == 0 {
		return err
	}
	var batch store.Batch
	var updates []*store.Update
	for _, id := range ids {
		r, err := p.run(ctx, id)
		if err != nil {
			return err
		}
		if r.row.Refold != nil {
			continue // its events that came late may say that it goes on
		}
		r.row.Status, r.row.Ended = store.Closed, r.fold.s.Last
		if r.row.Ended.IsZero() {
			r.row.Ended = r.row.Updated
		}
		batch.Runs = append(batch.Runs, r.row)
		updates = append(updates, &store.Update{Run: r.row, Warnings: r.warnings})
	}
	if len(updates) == 0 {
		return nil
	}
	if _, err := p.commit(ctx, &batch); err != nil {
		for _, id := range ids {
			p.drop(id)
		}
		return err
	}
	for _, u := range updates {
		for _, sink := range p.opts.Sinks {
			sink.Publish(u)
		}
	}
	return nil
}
