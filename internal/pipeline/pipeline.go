package pipeline

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/store"
)

// maxResent is the maximum number of runs in Pipeline.resent.
const maxResent = 4096

// Pipeline processes the events of many runs. It orders the events of each run, folds them, evaluates them under the profile,
// records the results and then notifies the sinks. Waiting submissions are recorded together in one commit. Submit is safe
// for concurrent use. One goroutine, the recorder in Run, does the rest with the help of its shards and of the writer.
type Pipeline struct {
	opts     Options
	judge    atomic.Pointer[judge]
	every    int // checkpointEvery
	perShard int // perShard
	queue    chan *queued
	stopped  chan struct{}
	events   atomic.Int64 // in the queue
	bytes    atomic.Int64 // of the events in the queue
	due      atomic.Int64 // rows that are due to be written
	late     atomic.Int64 // runs with a mark
	failed   atomic.Pointer[failure]
	failing  failureLog

	unreadable unreadable

	fenced error // why the pipeline must stop: another server writes to the store

	writer          *writer // nil before Run
	arrival, number int64   // the latest arrival of an event and number of a run
	live            map[string]*run
	runBytes        int64           // approximate size of the runs in memory
	keptBytes       int64           // of these, those of kept events
	used            list.List       // of *run, the most recently used first
	unwritten       map[string]*run // runs whose rows are due
	rowsMissing     bool            // a row was not written before its run was dropped; the next start writes it
	resent          map[string]bool // ids of runs whose events were resent with other positions; each event is looked up in the store. At most maxResent
	traces          traces
	refolds         refolds
}

// New returns a pipeline that continues from the state of its store.
func New(ctx context.Context, o Options) (*Pipeline, error) {
	o.fill()
	arrival, number, err := o.Store.Last(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the last position of the store: %w", err)
	}
	p := &Pipeline{
		opts: o, every: checkpointEvery, perShard: perShard, queue: make(chan *queued, maxQueued), stopped: make(chan struct{}),
		arrival: arrival, number: number, live: make(map[string]*run), unwritten: make(map[string]*run), resent: make(map[string]bool),
		failing: failureLog{sometimes: rate.Sometimes{Interval: logEvery}},
		refolds: newRefolds(),
	}
	p.SetProfile(o.Profile)
	if err := p.recover(ctx); err != nil {
		return nil, fmt.Errorf("recover unwritten rows: %w", err)
	}
	if err := p.findLate(ctx); err != nil {
		return nil, fmt.Errorf("load runs with late events: %w", err)
	}
	return p, nil
}

// tickTime is the interval at which idle runs are checked.
const tickTime = 5 * time.Second

// Run records submissions until ctx ends. Then it records those that still wait, writes checkpoints and returns. It must be
// called at most once. If another server has used the store, it ends early with store.ErrFenced.
func (p *Pipeline) Run(ctx context.Context) error {
	defer close(p.stopped)
	tick := time.NewTicker(tickTime)
	defer tick.Stop()
	rows := time.NewTicker(rowEvery)
	defer rows.Stop()
	work := context.WithoutCancel(ctx)
	defer p.startRefolds(ctx)()
	defer p.startWriter(work)()
	for p.fenced == nil {
		select {
		case w := <-p.queue:
			p.groups(work, w)
		case c := <-p.writer.written:
			p.finish(work, c)
		case r := <-p.refolds.done:
			p.drain(work)
			p.takeOver(work, r)
		case <-p.refolds.tick.C:
			p.beginRefolds(work)
		case <-tick.C:
			p.drain(work)
			p.tick(work)
		case <-rows.C:
			p.flushAhead(work)
		case <-ctx.Done():
			for {
				select {
				case w := <-p.queue:
					p.groups(work, w)
				default:
					p.drain(work)
					return p.shutdown(work)
				}
			}
		}
	}
	return p.fenced
}

// Bounds of one commit.
const (
	groupEvents = 8192
	groupBytes  = 32 << 20
)

// groups records a submission and the submissions that its group leaves over.
func (p *Pipeline) groups(ctx context.Context, w *queued) {
	for w != nil {
		w = p.group(ctx, w)
	}
}

// group records a submission together with those that wait behind it. A submission that deletes runs is recorded alone, because
// later submissions may create the same runs again. If such a submission follows, group returns it.
func (p *Pipeline) group(ctx context.Context, first *queued) (next *queued) {
	group := []*queued{first}
	events, bytes := first.weight, first.size
	for events < groupEvents && bytes < groupBytes && len(first.Deleted) == 0 {
		w := p.waiting(ctx, events)
		if w == nil {
			break
		}
		if len(w.Deleted) > 0 {
			next = w
			break
		}
		group = append(group, w)
		events += w.weight
		bytes += w.size
	}
	p.recordGroup(ctx, group)
	return next
}

// waiting returns the next queued submission; nil for none. If there are few events so far, it waits while the writer is busy.
func (p *Pipeline) waiting(ctx context.Context, events int) *queued {
	for {
		select {
		case w := <-p.queue:
			return w
		default:
		}
		if events >= worthAhead || p.writer == nil || p.writer.underWay == 0 {
			return nil
		}
		select {
		case w := <-p.queue:
			return w
		case c := <-p.writer.written:
			p.finish(ctx, c)
		}
	}
}

// recordGroup records a group. If there is a writer, it folds the group while the writer is busy, unless the group deletes runs or the
// memory is full.
func (p *Pipeline) recordGroup(ctx context.Context, group []*queued) {
	if p.fenced != nil {
		p.reply(group, p.fenced)
		return
	}
	if p.writer == nil || len(group[0].Deleted) > 0 || p.full() {
		p.drain(ctx)
		p.recordNow(ctx, group)
		return
	}
	c := p.newCommit(group)
	err := c.make(ctx)
	if err == nil {
		p.weighAll(c)
		if !c.deletes() && !p.full() {
			p.handOver(ctx, c)
			return
		}
	}
	// Commits in the writer may have runs of this group, which are now dropped or evicted.
	if p.drain(ctx) && err == nil {
		missing := p.rowsMissing
		err = p.complete(ctx, c, nil)
		if errors.Is(err, store.ErrDuplicate) {
			p.arrival, p.number = c.arrival, c.number // they are unused
			if p.recordAlone(ctx, c) {
				p.rowsMissing = missing // the rows of all runs that were dropped are written or due
			}
			return
		}
		if !errors.Is(err, ErrPanic) {
			p.reply(group, err)
			return
		}
	}
	p.recordAlone(ctx, c)
}

// recordNow records a group while the writer is idle, and answers its senders. It reports whether all of it is recorded.
func (p *Pipeline) recordNow(ctx context.Context, group []*queued) bool {
	err := p.record(ctx, group)
	if !errors.Is(err, ErrPanic) || len(group) == 1 {
		p.reply(group, err)
		return err == nil
	}
	for _, w := range group { // the others did not cause the panic
		w.reset()
		p.reply([]*queued{w}, p.record(ctx, []*queued{w}))
	}
	return false
}
