package memory

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy says that a pool did not get free in time. It is worth a retry.
var ErrBusy = errors.New("too much memory is in use by other requests")

// Wait is how long Take waits for others to give.
const Wait = 2 * time.Second

// Pool is a number of bytes that requests share. Those who wait are served in the order in which they came. It is safe for
// concurrent use.
type Pool struct {
	size int64
	free *semaphore.Weighted
}

// NewPool returns a pool of so many bytes, at least one.
func NewPool(size int64) *Pool {
	size = max(size, 1)
	return &Pool{size, semaphore.NewWeighted(size)}
}

// Size returns how many bytes the pool has in all.
func (p *Pool) Size() int64 { return p.size }

// Take takes so many bytes, or the whole pool where that has fewer, and returns how many it took. Where they are in use it waits
// for at most Wait; then the error is ErrBusy, or ctx's.
func (p *Pool) Take(ctx context.Context, bytes int64) (taken int64, err error) {
	bytes = max(0, min(bytes, p.size))
	if p.free.TryAcquire(bytes) {
		return bytes, nil
	}
	bounded, cancel := context.WithTimeoutCause(ctx, Wait, ErrBusy)
	defer cancel()
	if err := p.free.Acquire(bounded, bytes); err != nil {
		return 0, context.Cause(bounded)
	}
	return bytes, nil
}

// Give gives bytes back that were taken.
func (p *Pool) Give(bytes int64) { p.free.Release(bytes) }
