package memory

import (
	"container/list"
	"context"
	"sync"
	"time"
)

// Patience is the time that a request may take to arrive while others wait for its memory.
const Patience = time.Second

// arrivals are the requests of a pool that have not arrived completely, the oldest first. A slow sender holds memory that
// other requests wait for, so the oldest ones end if they take longer than Patience.
type arrivals struct {
	mu   sync.Mutex
	list list.List // of *Arrival
}

// Arrival is the memory of a request, which takes bytes as the request arrives. Its owner uses it in one goroutine.
type Arrival struct {
	pool  *Pool
	end   func()
	bytes int64 // taken

	// Guarded by the mutex of the arrivals.
	begun   time.Time     // of the first bytes
	place   *list.Element // nil before the first bytes, and after the request arrived or was ended
	held    int64         // equal to bytes
	expired bool          // end was called
}

// Arrive returns the memory of a request that begins to arrive. The pool may call end once, in another goroutine, until Arrived
// or Release returns. The request must then stop reading and call Release. end must neither block nor use the pool.
func (p *Pool) Arrive(end func()) *Arrival { return &Arrival{pool: p, end: end} }

// ExpireSlow ends the oldest slow requests that hold the given number of bytes together, as Take does.
func (p *Pool) ExpireSlow(bytes int64) { p.arriving.expire(bytes) }

// Grow takes bytes until the request has total ones, or the whole pool. It waits as Pool.Take does.
func (a *Arrival) Grow(ctx context.Context, total int64) error {
	more := min(total, a.pool.size) - a.bytes
	if more <= 0 {
		return nil
	}
	taken, err := a.pool.Take(ctx, more)
	if err != nil {
		return err
	}
	in := &a.pool.arriving
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.bytes == 0 && a.end != nil {
		a.begun, a.place = time.Now(), in.list.PushBack(a)
	}
	a.bytes += taken
	a.held = a.bytes
	return nil
}

// Arrived says that the request has arrived completely and needs total bytes from now on. It gives back the others.
func (a *Arrival) Arrived(total int64) {
	a.leave()
	if rest := a.bytes - total; rest > 0 {
		a.pool.Give(rest)
		a.bytes = total
	}
}

// Release gives back all bytes.
func (a *Arrival) Release() { a.Arrived(0) }

// Expired reports whether the pool ended the request because it arrived slowly while others waited.
func (a *Arrival) Expired() bool {
	a.pool.arriving.mu.Lock()
	defer a.pool.arriving.mu.Unlock()
	return a.expired
}

// leave makes sure that the pool does not end the request from now on.
func (a *Arrival) leave() {
	in := &a.pool.arriving
	in.mu.Lock()
	defer in.mu.Unlock()
	if a.place != nil {
		in.list.Remove(a.place)
		a.place = nil
	}
	a.end = nil
}

// expire ends the oldest slow requests that hold the given number of bytes together, or all slow ones if they hold fewer.
func (in *arrivals) expire(bytes int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for bytes > 0 && in.list.Len() > 0 {
		a := in.list.Front().Value.(*Arrival)
		if time.Since(a.begun) < Patience {
			return
		}
		in.list.Remove(a.place)
		a.place, a.expired = nil, true
		bytes -= a.held
		a.end()
	}
}
