package memory

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrBusy means that a pool did not have enough free bytes in time. The caller may retry.
var ErrBusy = errors.New("too much memory is in use by other requests")

// Wait is the maximum time that Take waits.
const Wait = 2 * time.Second

// Pool is a number of bytes that requests share. Waiting requests are served in order. It is safe for concurrent use.
type Pool struct {
	size     int64
	free     *semaphore.Weighted
	arriving arrivals
}

// NewPool returns a pool of the given number of bytes, at least one.
func NewPool(size int64) *Pool {
	size = max(size, 1)
	return &Pool{size: size, free: semaphore.NewWeighted(size)}
}

// Size returns the total number of bytes.
func (p *Pool) Size() int64 { return p.size }

// Take takes bytes, or the whole pool if it has fewer, and returns the number of taken bytes. It waits at most for Wait; then the
// error is ErrBusy. If ctx is done, it returns the error of ctx. While it waits, requests that arrive slowly are ended: see Arrival.
func (p *Pool) Take(ctx context.Context, bytes int64) (taken int64, err error) {
	bytes = max(0, min(bytes, p.size))
	if p.free.TryAcquire(bytes) {
		return bytes, nil
	}
	bounded, cancel := context.WithTimeoutCause(ctx, Wait, ErrBusy)
	defer cancel()
	p.arriving.expire(bytes)
	defer time.AfterFunc(Patience, func() { p.arriving.expire(bytes) }).Stop()
	if err := p.free.Acquire(bounded, bytes); err != nil {
		return 0, context.Cause(bounded)
	}
	return bytes, nil
}

// TryTake takes bytes, and reports whether the pool had as many free ones. It does not wait.
func (p *Pool) TryTake(bytes int64) bool { return p.free.TryAcquire(bytes) }

// Give returns taken bytes.
func (p *Pool) Give(bytes int64) { p.free.Release(bytes) }
