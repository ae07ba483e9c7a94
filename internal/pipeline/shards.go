package pipeline

import (
	"sync"
	"sync/atomic"
)

// perShard is the number of events for which a further goroutine is worth its start.
const perShard = 64

// spread calls do for 0 to n-1 on at most the given number of goroutines, the caller's included, and returns when all calls have
// returned. Each call takes the next number, so a goroutine with a long call makes few calls. spread returns the error of the lowest
// number. A panic in a call becomes its error.
func spread(n, goroutines int, do func(k int) error) error {
	goroutines = min(n, goroutines)
	var next atomic.Int64
	errs := make([]error, max(0, n))
	work := func() {
		for k := int(next.Add(1)) - 1; k < n; k = int(next.Add(1)) - 1 {
			errs[k] = withoutPanic(k, do)
		}
	}
	var others sync.WaitGroup
	for range goroutines - 1 {
		others.Go(work)
	}
	work()
	others.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// withoutPanic calls do for k and returns its error, which wraps ErrPanic after a panic.
func withoutPanic(k int, do func(k int) error) (err error) {
	defer recovered(&err)
	return do(k)
}

// each calls do for each run of the commit. The runs share no state that do may change, so they are spread over the shards. A shard is
// a goroutine that orders, folds and decides; a run belongs to one shard within a commit.
func (c *commit) each(do func(t *runChange) error) error {
	events := 0
	for _, t := range c.order {
		events += len(t.items)
	}
	return spread(len(c.order), min(c.p.opts.Shards, 1+events/c.p.perShard), func(k int) error { return do(c.order[k]) })
}
