package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
)

// Bounds bound the events that wait to be sent in the background.
type Bounds struct {
	Events int           // events
	Bytes  int64         // approximate size of the events
	Every  time.Duration // maximum time that an event waits for others
}

// Background sends events in the background, in order. While the server is unreachable or refuses its requests, for example because the
// token is wrong, it retries. Events beyond the bounds are dropped and counted, so Add never waits. It is safe for concurrent use.
type Background struct {
	queue  chan *unloop.Event // bounded; Stats counts the events that did not fit
	sender *Sender
	bounds Bounds

	bytes    atomic.Int64 // of the events that wait
	dropped  atomic.Int64
	passedOn atomic.Int64 // events that were passed to the sender

	mu     sync.RWMutex // guards closed, so that nothing is sent to a closed queue
	closed bool
	ending chan struct{}      // closed by Close
	stop   context.CancelFunc // ends the current request
	done   chan struct{}
}

// BackgroundStats counts events by result. It does not count waiting events.
type BackgroundStats struct {
	Sent    int // events that the server recorded
	Refused int // events that the server rejected
	Dropped int // events beyond the bounds, events added after Close, and events that were not sent before Close gave up
}

// Background returns a queue in front of the sender. It sends until it is closed.
func (s *Sender) Background(b Bounds) *Background {
	ctx, stop := context.WithCancel(context.Background())
	q := &Background{queue: make(chan *unloop.Event, b.Events), sender: s, bounds: b, ending: make(chan struct{}), stop: stop, done: make(chan struct{})}
	go q.send(ctx)
	return q
}

// Add takes a copy of an event and returns at once. If metadata is not nil, the copy has it in place of the event's own.
func (q *Background) Add(e *unloop.Event, metadata json.RawMessage) {
	q.mu.RLock()
	defer q.mu.RUnlock()
	if q.closed {
		q.Drop()
		return
	}
	size := sizeOf(e)
	if q.bytes.Add(size) > q.bounds.Bytes {
		q.bytes.Add(-size)
		q.Drop()
		return
	}
	copied := e.Clone()
	if metadata != nil {
		copied.Metadata = metadata
	}
	select {
	case q.queue <- copied:
	default:
		q.bytes.Add(-size)
		q.Drop()
	}
}

// Drop counts an event that cannot be sent.
func (q *Background) Drop() { q.dropped.Add(1) }

// sizeOf returns the approximate size of an event in bytes.
func sizeOf(e *unloop.Event) int64 {
	return int64(len(e.Input)+len(e.Output)+len(e.Error)+len(e.Metadata)+len(e.Text)) + 512
}

// makeValid replaces what no event on the wire has. Arguments and results come from models and tools, and may be no JSON: as strings they
// are one member of the event, whatever they contain. Figures that are no numbers are unknown.
func makeValid(e *unloop.Event) {
	for _, raw := range []*json.RawMessage{&e.Input, &e.Output, &e.Error} {
		if len(*raw) > 0 && !json.Valid(*raw) {
			*raw, _ = json.Marshal(string(*raw)) // a string always encodes
		}
	}
	if !json.Valid(e.Metadata) {
		e.Metadata = nil
	}
	if !isNumber(e.Cost) {
		e.Cost = 0
	}
	if e.Latency != nil && !isNumber(*e.Latency) {
		e.Latency = nil
	}
}

func isNumber(f float64) bool { return math.Abs(f) <= math.MaxFloat64 }

// send passes events to the sender until the queue is closed and empty, or ctx is done.
func (q *Background) send(ctx context.Context) {
	defer close(q.done)
	tick := time.NewTicker(q.bounds.Every)
	defer tick.Stop()
	waits := newBackoff(firstBackoff, lastBackoff)
	for {
		var err error
		select {
		case e, open := <-q.queue:
			if !open {
				_ = q.sender.Flush(ctx) // Stats counts what it could not send
				return
			}
			q.bytes.Add(-sizeOf(e))
			q.passedOn.Add(1)
			makeValid(e)
			err = q.sender.Add(ctx, e)
		case <-tick.C:
			if err = q.sender.Flush(ctx); err == nil {
				waits.Reset()
			}
		}
		if refused(err) && !q.wait(ctx, err, waits.NextBackOff()) {
			q.discard()
			return
		}
	}
}

// refused reports whether the server has answered a request with an error that the sender does not retry.
func refused(err error) bool {
	var answer *Error
	return errors.As(err, &answer) || errors.Is(err, errForeign)
}

// wait waits before the next attempt. When Close is called, it returns for a last one. It reports whether there is another attempt.
func (q *Background) wait(ctx context.Context, err error, pause time.Duration) (again bool) {
	select {
	case <-q.ending: // this was the last one
		return false
	default:
	}
	if q.sender.Waiting != nil {
		q.sender.Waiting(err, pause)
	}
	select {
	case <-time.After(pause):
	case <-q.ending:
	case <-ctx.Done():
		return false
	}
	return true
}

// discard counts the events that wait as dropped, until the queue is closed.
func (q *Background) discard() {
	for e := range q.queue {
		q.bytes.Add(-sizeOf(e))
		q.Drop()
	}
}

// Close sends the waiting events. It gives up when ctx is done, and then returns the error of ctx.
func (q *Background) Close(ctx context.Context) error {
	q.mu.Lock()
	if !q.closed {
		q.closed = true
		close(q.ending)
		close(q.queue)
	}
	q.mu.Unlock()
	defer q.stop()
	select {
	case <-q.done:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-q.done: // both, and all is sent
		return nil
	default:
	}
	q.stop()
	<-q.done
	return ctx.Err()
}

// Stats returns the counts so far. Before Close has returned, it does not count the events of the current request.
func (q *Background) Stats() BackgroundStats {
	sent := q.sender.Sent()
	s := BackgroundStats{Sent: sent.Accepted, Refused: sent.Refused, Dropped: int(q.dropped.Load())}
	select {
	case <-q.done:
		s.Dropped += int(q.passedOn.Load()) - sent.Accepted - sent.Refused
	default:
	}
	return s
}
