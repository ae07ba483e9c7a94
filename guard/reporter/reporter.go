// Package reporter sends the events of guards and their decisions to a server, where people watch the runs. A guard never waits
// for a reporter. Events that cannot be sent yet wait in a bounded queue. Events that do not fit into the queue are dropped and
// counted.
//
//	r, err := reporter.New(reporter.Options{})
//	defer r.Close(ctx)
//	g := guard.New(p, guard.Options{Run: conversationID, Events: r.Add})
package reporter

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/policy"
)

// Options are the options of a reporter. The zero value is valid.
type Options struct {
	Endpoint string // the server's URL; "" means UNLOOP_ENDPOINT, else http://127.0.0.1:8765
	Token    string // for ingest; "" means UNLOOP_TOKEN, else no token
	Events   int    // maximum number of waiting events; 0 means 10,000
	Bytes    int64  // approximate maximum size of the waiting events; 0 means 32 MiB

	// Every is how long an event may wait to be sent together with others; 0 means 500 ms.
	Every time.Duration
}

// Stats are counts of events by their result. Waiting events are in none of them.
type Stats struct {
	Sent    int // accepted by the server
	Refused int // rejected by the server
	Dropped int // exceeded the queue, had no run, or were not sent before the end of Close
}

// Reporter sends the events of any number of guards in order, in the background. If the server is not reachable, it retries with
// exponential backoff. It is safe for concurrent use.
type Reporter struct {
	queue  chan *unloop.Event
	sender *client.Sender
	every  time.Duration
	limit  int64

	bytes   atomic.Int64 // of the events that wait
	dropped atomic.Int64
	taken   atomic.Int64

	mu     sync.RWMutex // guards closed, so that nothing is sent to a closed queue
	closed bool
	stop   context.CancelFunc // cancels the current request
	done   chan struct{}
}

// New returns a reporter, which sends until it is closed. It does not contact the server. The error is about the options.
func New(o Options) (*Reporter, error) {
	endpoint := cmp.Or(o.Endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
	c, err := client.New(endpoint, cmp.Or(o.Token, os.Getenv("UNLOOP_TOKEN")))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Reporter{
		queue: make(chan *unloop.Event, cmp.Or(o.Events, 10_000)), sender: c.NewSender(), limit: cmp.Or(o.Bytes, 32<<20),
		every: cmp.Or(o.Every, 500*time.Millisecond), stop: stop, done: make(chan struct{}),
	}
	go r.send(ctx)
	return r, nil
}

// Add adds an event of a guard and the decision at it. It is the function for guard.Options.Events. It copies the event and
// returns at once. A decision other than allow is sent with the event, as the member guard of its metadata.
func (r *Reporter) Add(e *unloop.Event, d guard.Decision) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed || e.RunID == "" {
		r.dropped.Add(1)
		return
	}
	size := sizeOf(e)
	if r.bytes.Add(size) > r.limit {
		r.bytes.Add(-size)
		r.dropped.Add(1)
		return
	}
	copied := e.Clone()
	if d.Action != policy.Allow {
		copied.Metadata = metadata(d)
	}
	select {
	case r.queue <- copied:
	default:
		r.bytes.Add(-size)
		r.dropped.Add(1)
	}
}

// sizeOf returns the approximate size of an event in bytes. Guards set no metadata.
func sizeOf(e *unloop.Event) int64 {
	return int64(len(e.Input)+len(e.Output)+len(e.Error)+len(e.Text)) + 512
}

// metadata returns the decision of a guard as the metadata of an event.
func metadata(d guard.Decision) json.RawMessage {
	text, err := json.Marshal(map[string]any{"guard": map[string]any{"action": d.Action, "code": d.Code, "message": d.Nudge}})
	if err != nil {
		return nil // an action, a code and a message can always be written
	}
	return text
}

// send passes events to the sender until the queue is closed and empty, or ctx is done.
func (r *Reporter) send(ctx context.Context) {
	defer close(r.done)
	tick := time.NewTicker(r.every)
	defer tick.Stop()
	for {
		select {
		case e, open := <-r.queue:
			if !open {
				_ = r.sender.Flush(ctx) // Stats counts the events that it could not send
				return
			}
			r.bytes.Add(-sizeOf(e))
			r.taken.Add(1)
			_ = r.sender.Add(ctx, e)
		case <-tick.C:
			_ = r.sender.Flush(ctx)
		}
	}
}

// Close sends the waiting events. When ctx is done it stops and returns the error of ctx. Events that guards add after Close are
// dropped.
func (r *Reporter) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	select {
	case <-r.done:
		r.stop()
		return nil
	case <-ctx.Done():
	}
	r.stop()
	<-r.done
	return ctx.Err()
}

// Stats returns the counts so far. Until Close has returned, events that are being sent are in none of them.
func (r *Reporter) Stats() Stats {
	sent := r.sender.Sent()
	s := Stats{Sent: sent.Accepted, Refused: sent.Refused, Dropped: int(r.dropped.Load())}
	select {
	case <-r.done:
		s.Dropped += int(r.taken.Load()) - sent.Accepted - sent.Refused
	default:
	}
	return s
}
