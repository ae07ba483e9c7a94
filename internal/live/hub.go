// Package live hands what was recorded to those who watch: each recorded update goes to the subscribers of its run and to
// those of all runs. It stands behind the pipeline, which must never wait for a watcher, and before the streams of the HTTP
// server. So every subscriber has a bounded queue, and one that does not keep up is cut off, with a reason that it is told
// and a counter that shows it; nothing is ever left out of a stream in silence.
package live

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/store"
)

// The reasons for which a subscription ends.
var (
	ErrSlow   = errors.New("the subscriber did not keep up with the stream")
	ErrClosed = errors.New("the server is shutting down")
)

// Options are the bounds of a hub. Zero values stand for the defaults.
type Options struct {
	Updates int   // that wait for one subscriber; 8,192
	Bytes   int64 // of events that wait for one subscriber; 32 MiB
	Arrival int64 // of the latest event before the hub's time
}

// Stats count what a hub did.
type Stats struct {
	Subscribers int   // at the moment
	Sent        int64 // updates put into a queue, once for each subscriber
	Dropped     int64 // subscribers that were cut off since they did not keep up
}

// maxDeleted is how many deleted runs are remembered.
const maxDeleted = 4096

// deletion is a run that was deleted, and the latest arrival at that time.
type deletion struct {
	run   string
	after int64
}

// Hub fans updates out. It is safe for concurrent use.
type Hub struct {
	updates int
	bytes   int64

	mu      sync.Mutex
	closed  bool
	runs    map[string]map[*Subscription]struct{} // by the id of a run; "" for all runs
	deleted []deletion                            // the last ones, at most maxGone
	count   atomic.Int64
	latest  atomic.Int64
	sent    atomic.Int64
	dropped atomic.Int64
}

// New returns a hub without subscribers.
func New(o Options) *Hub {
	if o.Updates == 0 {
		o.Updates = 8192
	}
	if o.Bytes == 0 {
		o.Bytes = 32 << 20
	}
	h := &Hub{updates: o.Updates, bytes: o.Bytes, runs: make(map[string]map[*Subscription]struct{})}
	h.latest.Store(o.Arrival)
	return h
}

// Publish queues an update for those who watch its run and those who watch all. It never blocks, and costs a load where nobody
// watches. The update must not change any more. It is called by one goroutine, in the order of arrival.
func (h *Hub) Publish(u *store.Update) {
	if n := len(u.Events); n > 0 {
		h.latest.Store(u.Events[n-1].Arrival)
	}
	if h.count.Load() == 0 && !u.Deleted {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if u.Deleted {
		if len(h.deleted) == maxDeleted {
			h.deleted = append(h.deleted[:0], h.deleted[maxDeleted/2:]...)
		}
		h.deleted = append(h.deleted, deletion{u.Run.ID, h.latest.Load()})
	}
	var m *Message
	for _, id := range [...]string{u.Run.ID, ""} {
		for s := range h.runs[id] {
			if m == nil {
				m = &Message{Update: u, size: sizeOf(u)}
			}
			h.put(s, m)
		}
	}
}

// put queues m for s, or cuts s off. The hub is locked.
func (h *Hub) put(s *Subscription, m *Message) {
	if waiting := s.bytes.Add(m.size); waiting <= h.bytes || waiting == m.size {
		select {
		case s.queue <- m:
			h.sent.Add(1)
			return
		default:
		}
	}
	h.dropped.Add(1)
	h.end(s, ErrSlow)
}

// Subscribe returns a subscription to the updates of the run with that id from now on, or of all runs for "". It ends at once
// if the hub is closed.
func (h *Hub) Subscribe(run string) *Subscription {
	s := &Subscription{hub: h, run: run, queue: make(chan *Message, h.updates)}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.reason = ErrClosed
		close(s.queue)
		return s
	}
	if h.runs[run] == nil {
		h.runs[run] = make(map[*Subscription]struct{})
	}
	h.runs[run][s] = struct{}{}
	h.count.Add(1)
	return s
}

// end takes a subscription out. The hub is locked.
func (h *Hub) end(s *Subscription, reason error) {
	if s.reason != nil {
		return
	}
	s.reason = reason
	delete(h.runs[s.run], s)
	if len(h.runs[s.run]) == 0 {
		delete(h.runs, s.run)
	}
	h.count.Add(-1)
	close(s.queue)
}

// Close ends all subscriptions, which still hand out what waits for them. Later updates are ignored.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for _, subscriptions := range h.runs {
		for s := range subscriptions {
			h.end(s, ErrClosed)
		}
	}
}

// Latest returns the arrival of the latest event that was published. What is published after a call of Subscribe that came
// before arrived behind it, or is in the subscription.
func (h *Hub) Latest() int64 { return h.latest.Load() }

// Deleted returns the ids of the runs that were deleted when the latest arrival was since or higher, as far as the hub remembers.
func (h *Hub) Deleted(since int64) (runs []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, d := range h.deleted {
		if d.after >= since {
			runs = append(runs, d.run)
		}
	}
	return runs
}

// Stats returns the counts so far.
func (h *Hub) Stats() Stats {
	return Stats{Subscribers: int(h.count.Load()), Sent: h.sent.Load(), Dropped: h.dropped.Load()}
}
