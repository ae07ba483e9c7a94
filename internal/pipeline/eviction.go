package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// minCheckpointEvents is the minimum number of events since the last checkpoint for which eviction writes another one.
const minCheckpointEvents = 256

// endedTTL is how long a run stays in memory after its end.
const endedTTL = 30 * time.Second

// ended reports whether the run has ended, as far as is known.
func (r *run) ended() bool { return r.row.Status != store.Running }

// tick closes idle runs and evicts runs and traces from memory.
func (p *Pipeline) tick(ctx context.Context) {
	now := time.Now().UTC()
	if err := p.closeIdle(ctx, now.Add(-p.opts.IdleClose)); err != nil {
		p.logFailure("closing idle runs failed", "error", err)
	}
	p.evict(ctx, func(r *run, left held) bool {
		idle := now.Sub(r.used)
		return left.over(p.opts.LiveRuns, p.opts.RunBytes) || idle > p.opts.IdleMemory || r.ended() && idle > endedTTL
	})
	p.traces.makeRoom(0, now.Add(-p.opts.IdleMemory))
	p.gauge()
}

// held is the number of runs in memory and their size in bytes.
type held struct {
	runs  int
	bytes int64
}

func (h held) over(runs int, bytes int64) bool { return h.runs > runs || h.bytes > bytes }

// held returns the number and the size of the runs in memory.
func (p *Pipeline) held() held { return held{len(p.live), p.runBytes} }

// rowSize is the approximate size in bytes of a run besides its session and warnings: its row, its fold and its preview.
const rowSize = 8 << 10

// weigh updates the known size of a run. A run that is not in memory has size 0.
func (p *Pipeline) weigh(r *run) {
	if p.live[r.row.ID] != r {
		return
	}
	kept := 0
	if r.kept != nil {
		kept = r.kept.bytes
	}
	p.keptBytes += int64(kept - r.keptBytes)
	r.keptBytes = kept
	size := int64(rowSize + len(r.row.Metadata) + r.wholeBytes + kept + r.fold.session.Size())
	for k := range r.warnings {
		size += int64(len(r.warnings[k].Details) + len(r.warnings[k].Message))
	}
	p.runBytes += size - r.bytes
	r.bytes = size
}

// makeRoom evicts the runs that have been idle longest if there are too many or they take too much memory. It evicts an eighth at
// once.
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

// evictBytes is the approximate number of bytes of runs that one commit evicts. The commit writes their states.
const evictBytes = 32 << 20

// evict evicts runs, the longest idle first, while out returns true.
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
		if size += r.bytes; size < evictBytes {
			continue
		}
		if !p.evictTogether(ctx, leaving) {
			return
		}
		leaving, size = nil, 0
	}
	p.evictTogether(ctx, leaving)
}

// evictTogether evicts runs with one commit, and reports whether the commit succeeded.
func (p *Pipeline) evictTogether(ctx context.Context, leaving []*run) bool {
	var batch store.Batch
	for _, r := range leaving {
		p.saveState(&batch, r)
		if p.unwritten[r.row.ID] != nil {
			p.writeRow(&batch, r)
		}
	}
	if len(batch.Checkpoints)+len(batch.Runs) > 0 {
		if _, err := p.commit(ctx, &batch); err != nil {
			p.logFailure("writing the states of idle runs failed", "error", err)
			p.markUnwritten(&batch)
			return false
		}
	}
	for _, r := range leaving {
		p.drop(r.row.ID)
	}
	return true
}

// saveState adds a checkpoint of the run to the batch if enough events have arrived since the last one.
func (p *Pipeline) saveState(batch *store.Batch, r *run) {
	worth := minCheckpointEvents
	if r.ended() {
		worth = checkpointEvery // usually no more events arrive
	}
	if !r.stored || !r.current || r.eventsSinceCheckpoint() < worth {
		return
	}
	t := runChange{run: r}
	t.checkpoint()
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

// closeIdle closes the runs without events since a time.
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
			continue // its late events may show that it continues
		}
		r.row.Status, r.row.Ended = store.Abandoned, r.fold.s.endAt(r.fold.s.Last)
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
	p.publish(updates)
	return nil
}
