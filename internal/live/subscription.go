package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/unloop-ai/unloop/internal/store"
)

// Subscription is the queue of one subscriber. Its methods are for one goroutine.
type Subscription struct {
	hub    *Hub
	run    string
	queue  chan *Message // if full, the subscription ends with ErrSlow, and Stats.Dropped counts it
	bytes  atomic.Int64  // in the queue
	reason error         // guarded by hub.mu; set before the queue is closed
}

// errUnsubscribed is the reason after Subscription.Close.
var errUnsubscribed = errors.New("the subscription is closed")

// Next waits for the next update and returns it. After the last update of a subscription that ended, it returns ErrSlow, ErrClosed
// or ErrReset, or an error of its own after Close. A subscription that ended with ErrSlow or with Close has no updates left. If ctx is done, Next returns the error of ctx.
func (s *Subscription) Next(ctx context.Context) (*Message, error) {
	select {
	case m, ok := <-s.queue:
		return s.received(m, ok)
	default:
	}
	select {
	case m, ok := <-s.queue:
		return s.received(m, ok)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Try returns the next update if there is one in the queue. It does not wait, and does not tell whether the subscription has ended.
func (s *Subscription) Try() (*Message, bool) {
	select {
	case m, ok := <-s.queue:
		if !ok {
			return nil, false
		}
		s.took(m)
		return m, true
	default:
		return nil, false
	}
}

func (s *Subscription) received(m *Message, ok bool) (*Message, error) {
	if ok {
		s.took(m)
		return m, nil
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return nil, s.reason
}

// took counts an update that has left the queue.
func (s *Subscription) took(m *Message) {
	s.bytes.Add(-m.size)
	m.leave(s.hub)
}

// drain removes all updates from the queue.
func (s *Subscription) drain() {
	for {
		if _, ok := s.Try(); !ok {
			return
		}
	}
}

// Waiting returns the number of updates in the queue.
func (s *Subscription) Waiting() int { return len(s.queue) }

// Close ends the subscription and drops the updates in its queue.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.end(s, errUnsubscribed)
	s.drain()
}

// Message is an update for its subscribers. They share it and its encodings, one for each kind of stream.
type Message struct {
	*store.Update
	ForRun, ForAll Text // encodings for a stream of the run and of all runs
	ForRunEvents   Text // beginning of the encoding for a stream of the run that lists only changed warnings
	size           int64
	queues         atomic.Int32 // that it is in
}

// enter counts a queue that m is put into, and leave one that it has left. The first and the last one change the bytes of the hub.
func (m *Message) enter(h *Hub) {
	if m.queues.Add(1) == 1 {
		h.waiting.Add(m.size)
	}
}

func (m *Message) leave(h *Hub) {
	if m.queues.Add(-1) == 0 {
		h.waiting.Add(-m.size)
	}
}

// Text is made once, by its first reader.
type Text struct {
	once sync.Once
	data []byte
}

// Get returns the text. The first call makes it with make. The caller must not change it.
func (t *Text) Get(make func() []byte) []byte {
	t.once.Do(func() { t.data = make() })
	return t.data
}

// messageOverhead is the approximate memory of a message without its events, in bytes.
const messageOverhead = 1024

// sizeOf returns the approximate memory of an update in bytes: its list of warnings, the texts of those that changed, and its events. The texts of
// the other warnings are shared with earlier updates and with the run.
func sizeOf(u *store.Update) int64 {
	size := int64(messageOverhead)
	for i := range u.Events {
		size += int64(len(u.Events[i].Body) + len(u.Events[i].Analysis))
	}
	for i := range u.Analyses {
		size += int64(len(u.Analyses[i].EventID) + len(u.Analyses[i].Analysis))
	}
	size += int64(len(u.Warnings)) * int64(unsafe.Sizeof(store.Warning{}))
	for _, changed := range [...][]int{u.Raised, u.Grown} {
		for _, i := range changed {
			size += int64(len(u.Warnings[i].Details) + len(u.Warnings[i].Message))
		}
	}
	return size
}
