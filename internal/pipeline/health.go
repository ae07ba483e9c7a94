package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/store"
)

// failure is a failed commit.
type failure struct {
	err error
	at  time.Time
}

// commit writes a batch to the store and records the result for Health.
func (p *Pipeline) commit(ctx context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	duplicates, err = p.opts.Store.Commit(ctx, b)
	p.noteOutcome(err)
	p.noteFence(err)
	return duplicates, err
}

// noteFence ends the pipeline after an error behind which nothing can be recorded. For a partition that is every error: what comes
// after a message that is not recorded would move the position of the partition beyond it.
func (p *Pipeline) noteFence(err error) {
	own := p.opts.Partition != nil && err != nil && !errors.Is(err, ErrPanic)
	if own || errors.Is(err, store.ErrFenced) {
		p.fenced = err
	}
}

// noteOutcome notes for Health how a commit went.
func (p *Pipeline) noteOutcome(err error) {
	if err == nil {
		p.failed.Store(nil)
		return
	}
	p.failed.Store(&failure{err, time.Now()})
}

// logEvery is the minimum time between two log lines about repeated failures, for example on a full disk.
const logEvery = 10 * time.Second

// failureLog limits the log lines about failures. It belongs to the goroutine that records.
type failureLog struct {
	sometimes rate.Sometimes
	unlogged  int
}

// logFailure logs a failure to record, with the number of failures since the last line. Metrics.Failures counts all failed
// commits.
func (p *Pipeline) logFailure(what string, about ...any) {
	logged := false
	p.failing.sometimes.Do(func() {
		p.opts.Log.Error(what, append(about, "not_logged", p.failing.unlogged)...)
		p.failing.unlogged, logged = 0, true
	})
	if !logged {
		p.failing.unlogged++
	}
}

// failureTTL is how long Health reports a failure without another commit. A sender may stop sending after a failure, and then no
// commit can show that the store has recovered.
const failureTTL = time.Minute

// Health returns the error of the last commit. It returns nil if that commit succeeded, or if it is older than a minute.
func (p *Pipeline) Health() error {
	f := p.failed.Load()
	if f == nil || time.Since(f.at) > failureTTL {
		return nil
	}
	return fmt.Errorf("the last commit failed: %w", f.err)
}

// State is the state of a pipeline for its operators.
type State struct {
	Refolding  int // runs whose warnings and decisions do not include all late events yet
	Unreadable int // stored events that could not be decoded since the start and were skipped; at most 10,000 are counted
}

// State returns the state of the pipeline. It is safe for concurrent use.
func (p *Pipeline) State() State {
	return State{Refolding: int(p.late.Load()), Unreadable: p.unreadable.count()}
}
