package pipeline

import (
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// The row of a run follows from its events, so it is not written with each event. It is written when a field other than a total
// changes, else every rowEvery, and before it is read (Flush). After a crash, recover computes the due rows from the events that
// are newer than the last flush. A row whose run lost or changed events is not among them, so it is written at once.
const rowEvery = 5 * time.Second

// sameButTotals reports whether two rows of a run are equal except for totals.
func sameButTotals(a, b *store.Run) bool {
	return a.Status == b.Status && a.Name == b.Name && a.Warnings == b.Warnings && a.WorstAction == b.WorstAction && a.Health == b.Health
}

// writeRow adds a run's row to the batch.
func (p *Pipeline) writeRow(b *store.Batch, r *run) {
	b.Runs = append(b.Runs, r.row)
	r.stored, r.written = true, time.Now()
	delete(p.unwritten, r.row.ID)
}

// writeRows adds all due rows to the batch. The batch then records that all rows are written.
func (p *Pipeline) writeRows(b *store.Batch) {
	for _, r := range p.unwritten {
		p.writeRow(b, r)
	}
	if !p.rowsMissing {
		b.Flushed = p.arrival
	}
}

// flush writes all due rows.
func (p *Pipeline) flush(ctx context.Context) {
	if len(p.unwritten) == 0 {
		return
	}
	var b store.Batch
	p.writeRows(&b)
	if _, err := p.commit(ctx, &b); err != nil {
		p.logFailure("writing the rows of runs failed", "runs", len(b.Runs), "error", err)
		p.markUnwritten(&b)
	}
	p.noteDue()
}

// flushAhead gives all due rows to the writer, behind the commits that it has.
func (p *Pipeline) flushAhead(ctx context.Context) {
	if len(p.unwritten) == 0 {
		return
	}
	c := p.newCommit(nil)
	c.batch = new(store.Batch)
	p.writeRows(c.batch)
	p.handOver(ctx, c)
}

// markUnwritten marks the rows of a batch as due again.
func (p *Pipeline) markUnwritten(b *store.Batch) {
	for k := range b.Runs {
		if r := p.live[b.Runs[k].ID]; r != nil {
			p.unwritten[r.row.ID] = r
		}
	}
}

// Flush returns when the rows of all runs include all recorded events. It must be called before rows are read.
func (p *Pipeline) Flush(ctx context.Context) error {
	if p.due.Load() == 0 {
		return nil
	}
	w := &queued{Submission: &Submission{}, flush: true, done: make(chan struct{})}
	_, err := p.enqueue(ctx, w)
	return err
}

// recover writes the rows that were due when the last pipeline of the store crashed.
func (p *Pipeline) recover(ctx context.Context) error {
	ids, err := p.opts.Store.Unflushed(ctx)
	if err != nil || len(ids) == 0 {
		return err
	}
	b := store.Batch{Flushed: p.arrival}
	for _, id := range ids {
		r, err := p.load(ctx, id)
		if err != nil {
			return err
		}
		if r.current {
			b.Runs = append(b.Runs, r.row)
		}
	}
	_, err = p.commit(ctx, &b)
	return err
}
