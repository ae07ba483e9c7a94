package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
)

// Sender sends events to a server.
type Sender interface {
	Add(ctx context.Context, e *unloop.Event) error
	Flush(ctx context.Context) error
}

// Recorder sends events to a server in the background, in their order. When the queue is full, it drops events and counts them:
// agents never wait for it. It is safe for concurrent use.
type Recorder struct {
	queue   chan *unloop.Event // bounded; Dropped counts events for which it had no room
	dropped atomic.Int64
	done    sync.WaitGroup
	stop    context.CancelFunc

	mu     sync.RWMutex // held to write by Close alone
	closed bool
}

// The limits of a recorder.
const (
	recorderQueue = 16384                  // events
	recorderPause = 500 * time.Millisecond // from an event to its sending, at most
)

// NewRecorder returns a recorder that sends to s until it is closed.
func NewRecorder(s Sender) *Recorder {
	ctx, stop := context.WithCancel(context.Background())
	r := &Recorder{queue: make(chan *unloop.Event, recorderQueue), stop: stop}
	r.done.Go(func() { r.run(ctx, s) })
	return r
}

// Record takes an event, which it keeps. A closed recorder drops it: answers that are cut at the end still report.
func (r *Recorder) Record(e *unloop.Event) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		r.dropped.Add(1)
		return
	}
	select {
	case r.queue <- e:
	default:
		r.dropped.Add(1)
	}
}

// Dropped returns how many events were dropped.
func (r *Recorder) Dropped() int64 { return r.dropped.Load() }

// run sends events until the queue is closed or ctx ends.
func (r *Recorder) run(ctx context.Context, s Sender) {
	tick := time.NewTicker(recorderPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.dropped.Add(int64(len(r.queue)))
			return
		case <-tick.C:
			_ = s.Flush(ctx) // the sender tries again; an error is the end of ctx
		case e, open := <-r.queue:
			if !open {
				_ = s.Flush(ctx) // as above
				return
			}
			if s.Add(ctx, e) != nil {
				r.dropped.Add(1)
			}
		}
	}
}

// Close sends what is in the queue, for as long as ctx allows.
func (r *Recorder) Close(ctx context.Context) {
	r.mu.Lock()
	r.closed = true
	close(r.queue)
	r.mu.Unlock()
	ended := context.AfterFunc(ctx, r.stop)
	defer ended()
	r.done.Wait()
	r.stop()
}
