package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/store"
)

// failure is a commit that did not succeed.
type failure struct {
	err error
	at  time.Time
}

// commit has the store take a batch, and notes how that went.
func (p *Pipeline) commit(ctx context.Context, b *store.Batch) (doubled []store.EventRef, err error) {
	doubled, err = p.opts.Store.Commit(ctx, b)
	p.noteOutcome(err)
	if errors.Is(err, store.ErrFenced) {
		p.fenced = err
	}
	return doubled, err
}

// noteOutcome notes for Health how a commit went.
func (p *Pipeline) noteOutcome(err error) {
	if err == nil {
		p.failed.Store(nil)
		return
	}
	p.failed.Store(&failure{err, time.Now()})
}

// logEvery is how often a failure is logged while there is one after the other, as on a full disk.
const logEvery = 10 * time.Second

// failureLog bounds the lines about failures. It belongs to the goroutine that records.
type failureLog struct {
	sometimes rate.Sometimes
	unlogged  int
}

// logFailure logs that something could not be recorded, and how many failures were not logged since the last line. Metrics.Failures
// counts all commits that failed.
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

// failureTTL is how long a failure counts. Who heard of it may send nothing more, so that no commit can show that the store is well.
const failureTTL = time.Minute

// Health returns why the last commit did not succeed; nil where it did, or where none was tried for a minute.
func (p *Pipeline) Health() error {
	f := p.failed.Load()
	if f == nil || time.Since(f.at) > failureTTL {
		return nil
	}
	return fmt.Errorf("the last recording did not succeed: %w", f.err)
}
