package live

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/store"
)

// Subscription is one watcher's queue. Its methods are for one goroutine.
type Subscription struct {
	hub    *Hub
	run    string
	queue  chan *Message // full: the subscription ends with ErrSlow, which Stats.Dropped counts
	bytes  atomic.Int64  // that wait
	reason error         // guarded by hub.mu; set before the queue is closed
}

// errDeleted is the reason of a subscription that its owner closed.
var errDeleted = errors.New("the subscription is closed")

// Next returns the next update, waiting for one. At the end of the subscription, when all that waited was handed out, the error
// is ErrSlow or ErrClosed; else it is ctx's.
func (s *Subscription) Next(ctx context.Context) (*Message, error) {
	select {
	case m, ok := <-s.queue:
		return s.taken(m, ok)
	default:
	}
	select {
	case m, ok := <-s.queue:
		return s.taken(m, ok)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Try returns the next update if one waits.
func (s *Subscription) Try() (*Message, bool) {
	select {
	case m, ok := <-s.queue:
		if !ok {
			return nil, false
		}
		s.bytes.Add(-m.size)
		return m, true
	default:
		return nil, false
	}
}

func (s *Subscription) taken(m *Message, ok bool) (*Message, error) {
	if ok {
		s.bytes.Add(-m.size)
		return m, nil
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return nil, s.reason
}

// Waiting returns how many updates wait.
func (s *Subscription) Waiting() int { return len(s.queue) }

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.end(s, errDeleted)
}

// Message is an update on its way to its subscribers. They share it, and what each kind of stream says of it.
type Message struct {
	*store.Update
	ForRun, ForAll Text // what a stream of the run, and one of all runs, says
	ForRunEvents   Text // the beginning of what a stream of the run says that tells only which warnings changed
	size           int64
}

// Text is made once, by the first who needs it.
type Text struct {
	once sync.Once
	data []byte
}

// Get returns the text, which make makes unless somebody else did. It must not be changed.
func (t *Text) Get(make func() []byte) []byte {
	t.once.Do(func() { t.data = make() })
	return t.data
}

// messageOverhead is about what a message takes in memory beside its events, in bytes.
const messageOverhead = 1024

func sizeOf(u *store.Update) int64 {
	size := int64(messageOverhead)
	for i := range u.Events {
		size += int64(len(u.Events[i].Body) + len(u.Events[i].Analysis))
	}
	for i := range u.Analyses {
		size += int64(len(u.Analyses[i].EventID) + len(u.Analyses[i].Analysis))
	}
	for i := range u.Warnings {
		size += int64(len(u.Warnings[i].Details) + len(u.Warnings[i].Message))
	}
	return size
}
