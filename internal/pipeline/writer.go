package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// While the writer writes commits, the recorder folds the next ones. These are the bounds of folded state that is not on disk. At a
// bound the recorder waits.
const (
	aheadCommits = 64
	aheadEvents  = 2 * groupEvents
)

// worthAhead is the number of events from which the recorder folds while the writer is busy. Fewer events wait for the writer, so that
// single events share a commit.
const worthAhead = 256

// writer is the goroutine that writes commits in the order in which they were folded. It writes all queued commits as one transaction.
type writer struct {
	work     chan *commit   // to the writer, with room for aheadCommits
	written  chan []*commit // from it, with as much room; their outcomes are set
	underWay int            // commits in work and written
	events   int            // of these commits
	epoch    int            // of the next commits; the recorder begins another one after a failure
}

// outcome is the result of the writer for a commit.
type outcome struct {
	err  error // of its transaction
	redo bool  // the commit is valid, but must be recorded again alone
}

// startWriter starts the writer. The returned function stops it.
func (p *Pipeline) startWriter(ctx context.Context) (end func()) {
	w := &writer{work: make(chan *commit, aheadCommits), written: make(chan []*commit, aheadCommits)}
	p.writer = w
	var done sync.WaitGroup
	done.Go(func() { p.writeAll(ctx, w.work, w.written) })
	return func() {
		close(w.work)
		done.Wait()
	}
}

// writeAll writes commits until work is closed. After a failure it writes no further commit of that epoch: commits that were
// folded after a commit that is not on disk are invalid.
func (p *Pipeline) writeAll(ctx context.Context, work <-chan *commit, written chan<- []*commit) {
	failed := -1
	for c := range work {
		group := gatherCommits(c, work)
		var out outcome
		if c.epoch == failed {
			out.redo = true
		} else if err := p.writeTogether(ctx, group); err != nil {
			failed = c.epoch
			out = outcome{err: err, redo: errors.Is(err, store.ErrDuplicate) || errors.Is(err, ErrPanic)}
		}
		for _, c := range group {
			c.outcome = out
		}
		written <- group
	}
}

// gatherCommits returns a commit and the queued ones after it. All are of one epoch, because a new epoch begins when the writer is idle.
func gatherCommits(c *commit, work <-chan *commit) []*commit {
	group, events := []*commit{c}, len(c.batch.Events)
	for events < groupEvents {
		select {
		case c, ok := <-work:
			if !ok {
				return group
			}
			group = append(group, c)
			events += len(c.batch.Events)
		default:
			return group
		}
	}
	return group
}

// writeTogether writes commits as one transaction, notifies the sinks and answers the senders. After an error it does none of that.
func (p *Pipeline) writeTogether(ctx context.Context, group []*commit) (err error) {
	defer recovered(&err)
	began := time.Now()
	batches := make([]*store.Batch, len(group))
	for k, c := range group {
		batches[k] = c.batch
	}
	err = p.opts.Store.CommitTogether(ctx, batches)
	if errors.Is(err, store.ErrDuplicate) {
		return err
	}
	if p.noteOutcome(err); err != nil {
		return err
	}
	p.opts.Metrics.Commit.Observe(time.Since(began).Seconds())
	for _, c := range group {
		c.count(0)
		p.publish(c.updates)
		p.reply(c.group, nil)
	}
	return nil
}

// handOver gives a folded commit to the writer. The commit must not delete a run, because that changes the state of the recorder.
func (p *Pipeline) handOver(ctx context.Context, c *commit) {
	w := p.writer
	for w.underWay == aheadCommits || w.underWay > 0 && w.events > aheadEvents {
		if !p.finish(ctx, <-w.written) {
			p.recordAlone(ctx, c)
			return
		}
	}
	// The visible state of the pipeline must be current before the senders have their answer.
	c.epoch = w.epoch
	w.underWay++
	w.events += len(c.batch.Events)
	for _, t := range c.order {
		t.underWay++
		if t.late {
			p.noteChange(t.run, t.from) // no refold begins or ends before the commit is written
		}
	}
	p.noteDue()
	w.work <- c
}

// drain waits until the writer is idle, and reports whether all commits were written as they were folded.
func (p *Pipeline) drain(ctx context.Context) bool {
	for p.writer != nil && p.writer.underWay > 0 {
		if !p.finish(ctx, <-p.writer.written) {
			return false
		}
	}
	return true
}

// finish applies the effects of written commits, and reports whether they succeeded. If not, it waits until the writer is idle and
// records the groups of all failed commits again, one by one.
func (p *Pipeline) finish(ctx context.Context, group []*commit) bool {
	p.cameBackFrom(group)
	if group[0].outcome == (outcome{}) {
		for _, c := range group {
			c.after()
		}
		return true
	}
	for p.writer.underWay > 0 {
		more := <-p.writer.written
		p.cameBackFrom(more)
		group = append(group, more...)
	}
	p.writer.epoch++
	if errors.Is(group[0].err, store.ErrDuplicate) { // the numbers are unused, so the next attempt uses them again
		p.arrival, p.number = group[0].arrival, group[0].number
	}
	missing, redone := p.rowsMissing, true
	for _, c := range group {
		c.discard()
	}
	for _, c := range group {
		if c.redo {
			redone = p.recordAlone(ctx, c) && redone
			continue
		}
		redone = false
		p.failedWith(c, c.err)
		p.reply(c.group, c.err)
	}
	if redone { // with the rows of all runs that were dropped
		p.rowsMissing = missing
	}
	return false
}

func (p *Pipeline) cameBackFrom(group []*commit) {
	for _, c := range group {
		p.writer.underWay--
		p.writer.events -= len(c.batch.Events)
		for _, t := range c.order {
			t.underWay--
		}
	}
	p.noteDue()
}

// noteDue updates the number of due rows. Commits in the writer may contain some.
func (p *Pipeline) noteDue() {
	due := len(p.unwritten)
	if p.writer != nil {
		due += p.writer.underWay
	}
	p.due.Store(int64(due))
}

// recordAlone records the group of a commit that was not written, while the writer is idle. It reports whether that succeeded.
func (p *Pipeline) recordAlone(ctx context.Context, c *commit) bool {
	c.discard()
	if len(c.group) == 0 {
		return true // rows of runs, which are due again
	}
	for _, w := range c.group {
		w.reset()
	}
	return p.recordNow(ctx, c.group)
}
