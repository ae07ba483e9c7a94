package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// minCheckpointEvents is after how many events since the last checkpoint a run that leaves memory is worth another.
const minCheckpointEvents = 256

// endedTTL is how long a run stays in memory after its end.
const endedTTL = 30 * time.Second

// ended reports whether the run has ended, as far as is known.
func (r *run) ended() bool { return r.row.Status != store.Running }

// tick sees to the runs that nothing comes for.
func (p *Pipeline) tick(ctx context.Context) {
	now := time.Now().UTC()
	if err := p.closeIdle(ctx, now.Add(-p.opts.IdleClose)); err != nil {
		p.logFailure("closing idle runs did not succeed", "error", err)
	}
	p.evict(ctx, func(r *run, left held) bool {
		idle := now.Sub(r.used)
		return left.over(p.opts.LiveRuns, p.opts.RunBytes) || idle > p.opts.IdleMemory || r.ended() && idle > endedTTL
	})
	p.traces.makeRoom(0, now.Add(-p.opts.IdleMemory))
	p.gauge()
}

// held is how many runs are in memory, and what they take, in bytes.
type held struct {
	runs  int
	bytes int64
}

func (h held) over(runs int, bytes int64) bool { return h.runs > runs || h.bytes > bytes }

// held returns what is in memory.
func (p *Pipeline) held() held { return held{len(p.live), p.runBytes} }

// rowSize is about what a run takes beside its watch and its warnings, in bytes: its row, its fold, what a list shows of it.
const rowSize = 8 << 10

// weigh brings what is known of a run's memory up to date. A run that is not in memory any more takes nothing.
func (p *Pipeline) weigh(r *run) {
	if p.live[r.row.ID] != r {
		return
	}
	size := int64(rowSize + len(r.row.Metadata) + r.wholeBytes + r.fold.session.Size())
	for k := range r.warnings {
		size += int64(len(r.warnings[k].Details) + len(r.warnings[k].Message))
	}
	p.runBytes += size - r.bytes
	r.bytes = size
}

// makeRoom puts the longest idle runs out of memory when there are too many or they take too much, an eighth at once.
func (p *Pipeline) makeRoom(ctx context.Context) {
	p.traces.makeRoom(p.opts.TraceBytes, time.Time{})
	if p.held().over(p.opts.LiveRuns, p.opts.RunBytes) {
		runs, bytes := p.opts.LiveRuns-p.opts.LiveRuns/8, p.opts.RunBytes-p.opts.RunBytes/8
		p.evict(ctx, func(_ *run, left held) bool { return left.over(runs, bytes) })
	}
	p.gauge()
}

// full reports whether makeRoom has something to do. Then nothing may be under way: what leaves memory is read from the store again.
func (p *Pipeline) full() bool {
	return p.traces.bytes > p.opts.TraceBytes || p.held().over(p.opts.LiveRuns, p.opts.RunBytes)
}

func (p *Pipeline) gauge() {
	p.opts.Metrics.Live.Set(float64(len(p.live)))
	p.opts.Metrics.Waiting.Set(float64(p.events.Load()))
}

// leaveBytes is how many bytes of runs leave memory with one commit, about: their states are written in it.
const leaveBytes = 32 << 20

// evict puts runs out of memory, the longest idle first, as long as out says so.
func (p *Pipeline) evict(ctx context.Context, out func(r *run, left held) bool) {
	var leaving []*run
	size := int64(0)
	left := p.held()
	for at := p.used.Back(); at != nil; {
		r := at.Value.(*run)
		at = at.Prev()
		if !out(r, left) {
			continue
		}
		left.runs--
		left.bytes -= r.bytes
		leaving = append(leaving, r)
		if size += r.bytes; size < leaveBytes {
			continue
		}
		if !p.leaveTogether(ctx, leaving) {
			return
		}
		leaving, size = nil, 0
	}
	p.leaveTogether(ctx, leaving)
}

// leaveTogether puts runs out of memory with one commit, and reports whether that succeeded.
func (p *Pipeline) leaveTogether(ctx context.Context, leaving []*run) bool {
	var batch store.Batch
	for _, r := range leaving {
		p.saveState(&batch, r)
		if p.unwritten[r.row.ID] != nil {
			p.writeRow(&batch, r)
		}
	}
	if len(batch.Checkpoints)+len(batch.Runs) > 0 {
		if _, err := p.commit(ctx, &batch); err != nil {
			p.logFailure("writing the states of idle runs did not succeed", "error", err)
			p.unwrite(&batch)
			return false
		}
	}
	for _, r := range leaving {
		p.drop(r.row.ID)
	}
	return true
}

// saveState adds a checkpoint of the run to the batch, if it is worth that.
func (p *Pipeline) saveState(batch *store.Batch, r *run) {
	folded := 0
	if n := len(r.checkpoints); n > 0 {
		folded = r.checkpoints[n-1].Events
	}
	worth := minCheckpointEvents
	if r.ended() {
		worth = checkpointEvery // nothing comes any more, as a rule
	}
	if !r.stored || !r.current || r.fold.s.Events-folded < worth {
		return
	}
	t := runChange{run: r}
	t.checkpoint(p)
	batch.Checkpoints = append(batch.Checkpoints, t.checkpointsMade...)
	batch.Pruned = append(batch.Pruned, t.pruned...)
}

// shutdown writes the states of all runs in memory.
func (p *Pipeline) shutdown(ctx context.Context) error {
	p.flush(ctx)
	p.evict(ctx, func(*run, held) bool { return true })
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
