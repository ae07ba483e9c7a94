// Package live sends recorded updates to subscribers: to those of the run and to those of all runs. The pipeline publishes, and the
// streams of the HTTP server subscribe. The pipeline never waits for a subscriber, so each subscriber has a bounded queue. A
// subscriber that does not keep up is disconnected with ErrSlow, and Stats.Dropped counts it. No update is left out of a stream.
package live

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/store"
)

// The reasons why a subscription ends.
var (
	ErrSlow   = errors.New("the subscriber did not keep up with the stream")
	ErrClosed = errors.New("the server is shutting down")
	ErrReset  = errors.New("updates of a partition may be missing: come back and read on from the database")
)

// Options are the bounds of a hub. Zero values mean the defaults.
type Options struct {
	Updates int   // maximum number of updates in the queue of a subscriber; 8,192
	Bytes   int64 // maximum size of the updates in the queue of a subscriber; 32 MiB
	Total   int64 // maximum size of the updates in all queues, each counted once; 256 MiB
	Arrival int64 // arrival of the latest event before the hub was created

	// Window is how much lower than an earlier one the arrival of an update can be. It is 0, except in a cluster, where several servers
	// give arrivals.
	Window int64
}

// Stats are the counts of a hub.
type Stats struct {
	Subscribers int   // current subscribers
	Sent        int64 // updates put into queues, once for each subscriber
	Dropped     int64 // subscribers that were disconnected because they did not keep up
}

// maxDeleted is the maximum number of deleted runs that a hub remembers.
const maxDeleted = 4096

// deletion is a deleted run with the latest arrival at the time of its deletion.
type deletion struct {
	run   string
	after int64
}

// Hub sends updates to subscribers. It is safe for concurrent use.
type Hub struct {
	updates int
	bytes   int64
	total   int64
	window  int64

	mu      sync.Mutex
	closed  bool
	runs    map[string]map[*Subscription]struct{} // by the id of a run; "" for all runs
	deleted []deletion                            // the latest ones, at most maxDeleted
	count   atomic.Int64
	latest  atomic.Int64
	sent    atomic.Int64
	dropped atomic.Int64
	waiting atomic.Int64 // bytes of the updates in all queues
}

// New returns a hub without subscribers.
func New(o Options) *Hub {
	if o.Updates == 0 {
		o.Updates = 8192
	}
	if o.Bytes == 0 {
		o.Bytes = 32 << 20
	}
	if o.Total == 0 {
		o.Total = 256 << 20
	}
	h := &Hub{updates: o.Updates, bytes: o.Bytes, total: o.Total, window: o.Window, runs: make(map[string]map[*Subscription]struct{})}
	h.latest.Store(o.Arrival)
	return h
}

// Publish queues an update for the subscribers of its run and of all runs. It never blocks. Without subscribers it costs one atomic
// load. The caller must not change the update afterwards. One goroutine calls Publish, in the order of arrival but for the window.
func (h *Hub) Publish(u *store.Update) {
	arrival := int64(0)
	if n := len(u.Events); n > 0 {
		arrival = u.Events[n-1].Arrival
	}
	if h.Skip(arrival) && !u.Deleted {
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

// Skip is Publish of an update that nobody reads and that deletes no run. arrival is that of its last event, or 0. It reports whether
// there are no subscribers; if there are some, the update must be published.
func (h *Hub) Skip(arrival int64) bool {
	h.latest.Store(max(h.latest.Load(), arrival))
	return h.count.Load() == 0
}

// put queues m for s, or disconnects s if its queue is full. The caller holds the lock.
func (h *Hub) put(s *Subscription, m *Message) {
	if waiting := s.bytes.Add(m.size); waiting > h.bytes && waiting != m.size || len(s.queue) == cap(s.queue) {
		s.bytes.Add(-m.size)
		h.drop(s)
		return
	}
	m.enter(h)
	s.queue <- m // has room: only put sends, under the lock
	h.sent.Add(1)
	for h.waiting.Load() > max(h.total, m.size) {
		slowest := h.slowest()
		if slowest == nil {
			return // the rest is in queues of subscriptions that ended
		}
		h.drop(slowest)
	}
}

// drop disconnects a subscriber that did not keep up and empties its queue. The caller holds the lock.
func (h *Hub) drop(s *Subscription) {
	h.dropped.Add(1)
	s.drain()
	h.end(s, ErrSlow)
}

// slowest returns the subscription with the largest queue, or nil if all queues are empty. The caller holds the lock.
func (h *Hub) slowest() (slowest *Subscription) {
	most := int64(0)
	for _, subscriptions := range h.runs {
		for s := range subscriptions {
			if bytes := s.bytes.Load(); bytes > most {
				slowest, most = s, bytes
			}
		}
	}
	return slowest
}

// Subscribe returns a subscription to the future updates of a run, or of all runs for "". If the hub is closed, the subscription has
// already ended.
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

// end removes a subscription. The caller holds the lock.
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

// Close ends all subscriptions. They still return the updates in their queues. Later updates are ignored.
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

// Latest returns the arrival up to which all events are published. After Subscribe, every event with a higher arrival that is not
// recorded yet will be in the subscription.
func (h *Hub) Latest() int64 { return max(0, h.latest.Load()-h.window) }

// Seen returns the arrival up to which a client of the stream of all runs has received everything, if the id of its last message is given.
func (h *Hub) Seen(id int64) int64 { return max(0, id-h.window) }

// Reset ends all subscriptions because updates may be missing. The hub accepts new ones.
func (h *Hub) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, subscriptions := range h.runs {
		for s := range subscriptions {
			h.end(s, ErrReset)
		}
	}
}

// Deleted returns the ids of the runs that were deleted when the latest arrival was at least since. The hub remembers the latest
// 2,048 deletions or more.
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

// Stats returns the current counts.
func (h *Hub) Stats() Stats {
	return Stats{Subscribers: int(h.count.Load()), Sent: h.sent.Load(), Dropped: h.dropped.Load()}
}
