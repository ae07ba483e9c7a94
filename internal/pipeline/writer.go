package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Folding runs ahead of writing: while the writer writes commits, the recorder folds the next ones. The bounds of what is folded and
// not on disk yet; at a bound the recorder waits.
const (
	aheadCommits = 64
	aheadEvents  = 2 * groupEvents
)

// worthAhead is the number of events for which folding does not wait until the writer is free. Fewer gather meanwhile, so that single
// events share a commit.
const worthAhead = 256

// writer is the goroutine that writes commits in the order in which they were folded. It writes all that wait as one transaction.
type writer struct {
	work     chan *commit   // to the writer, with room for aheadCommits
	written  chan []*commit // from it, with as much room; their outcomes are set
	underWay int            // commits that were handed over and have not come back
	events   int            // of these
	epoch    int            // of commits that are handed over; the recorder begins another one after a failure
}

// outcome is what became of a commit that was handed over.
type outcome struct {
	err  error // of the transaction that it was a part of
	redo bool  // nothing is wrong with it: it must be recorded again by itself
}

// startWriter begins the writer, which ends with what is returned.
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

// writeAll writes commits until work is closed. After a failure it writes no commit of that epoch: what was folded behind a commit that
// is not on disk is not valid.
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

// gatherCommits returns a commit and those that wait behind it. All are of one epoch: a new one begins when none is under way.
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
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, cause, debug.Stack())
		}
	}()
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

// handOver gives a folded commit to the writer. No run of it may be deleted, since that changes what the recorder holds.
func (p *Pipeline) handOver(ctx context.Context, c *commit) {
	w := p.writer
	for w.underWay == aheadCommits || w.underWay > 0 && w.events > aheadEvents {
		if !p.cameOff(ctx, <-w.written) {
			p.recordAlone(ctx, c)
			return
		}
	}
	// What others can see of the pipeline has to be true before the senders have their answer.
	c.epoch = w.epoch
	w.underWay++
	w.events += len(c.batch.Events)
	for _, t := range c.order {
		t.underWay++
		if t.late {
			p.noteChange(t.run, t.from) // no refold begins or ends before the commit has come back
		}
	}
	p.noteDue()
	w.work <- c
}

// drain waits until nothing is under way, and reports whether all of it was written as it was folded.
func (p *Pipeline) drain(ctx context.Context) bool {
	for p.writer != nil && p.writer.underWay > 0 {
		if !p.cameOff(ctx, <-p.writer.written) {
			return false
		}
	}
	return true
}

// cameOff does what the recorder has to do after commits are written, and reports whether they are. If they are not, it waits for all
// that is under way and records it again, one by one.
func (p *Pipeline) cameOff(ctx context.Context, group []*commit) bool {
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
	if errors.Is(group[0].err, store.ErrDuplicate) { // nothing has these numbers, so what is recorded again gets them
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

// noteDue notes whether rows are to be written. What is under way may have some.
func (p *Pipeline) noteDue() {
	due := len(p.unwritten)
	if p.writer != nil {
		due += p.writer.underWay
	}
	p.due.Store(int64(due))
}

// recordAlone records the group of a commit that was not written, while nothing is under way. It reports whether that succeeded.
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
