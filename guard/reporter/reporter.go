// Package reporter sends what guards see and decide to a server, where people watch the runs. It stands behind a guard and never in its
// way: what cannot be sent waits, within bounds, and is dropped and counted beyond them.
//
//	r, err := reporter.New(reporter.Options{})
//	defer r.Close(ctx)
//	g := guard.New(p, guard.Options{Run: conversationID, Events: r.Add, Controls: r.Controls})
package reporter

import (
	"cmp"
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/client"
	"github.com/unloop-ai/unloop/policy"
)

// Options are those of a reporter. The zero value is valid.
type Options struct {
	Endpoint string // the server's URL; "" means UNLOOP_ENDPOINT, else http://127.0.0.1:8765
	Token    string // for ingest; "" means UNLOOP_TOKEN, and without that no token
	By       string // the kind of guard, as people read it; "" means Go
	Events   int    // most events that wait; 0 means 10,000
	Bytes    int64  // about the most bytes of events that wait; 0 means 32 MiB

	// Every is how long an event may wait to be sent together with others; 0 means 500 ms.
	Every time.Duration
}

// Stats are the numbers of events by what became of them. Events that wait are in none of them.
type Stats struct {
	Sent    int // that the server has
	Refused int // that the server does not take
	Dropped int // for which there was no room, which have no run, or which were not sent before Close gave up
}

// Reporter sends the events of any number of guards, in their order, in the background. While the server is away it tries again, with
// growing pauses. It is safe for concurrent use.
type Reporter struct {
	queue  chan *unloop.Event
	sender *client.Sender
	every  time.Duration
	limit  int64
	by     string

	bytes   atomic.Int64 // of the events that wait
	dropped atomic.Int64
	taken   atomic.Int64

	mu     sync.RWMutex // guards closed, so that nothing is sent to a closed queue
	closed bool
	stop   context.CancelFunc // gives up what is being sent

	orders orders
	done   chan struct{}
}

// New returns a reporter, which sends until it is closed. It does not contact the server: the error is about the options.
func New(o Options) (*Reporter, error) {
	endpoint := cmp.Or(o.Endpoint, os.Getenv("UNLOOP_ENDPOINT"), client.DefaultEndpoint)
	c, err := client.New(endpoint, cmp.Or(o.Token, os.Getenv("UNLOOP_TOKEN")))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &Reporter{
		queue: make(chan *unloop.Event, cmp.Or(o.Events, 10_000)), sender: c.NewSender(), limit: cmp.Or(o.Bytes, 32<<20),
		every: cmp.Or(o.Every, 500*time.Millisecond), by: cmp.Or(o.By, "Go"), stop: stop, done: make(chan struct{}),
	}
	r.orders = newOrders(c)
	go r.send(ctx)
	return r, nil
}

// Add takes an event of a guard and the decision at it; it is for guard.Options.Events. It copies the event and returns at once. A
// decision other than allow is sent with the event, as the member guard of its metadata.
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
	if report := r.reportOf(d); report.Action != "" || e.Index == 0 {
		copied.Metadata = report.Metadata()
	}
	select {
	case r.queue <- copied:
	default:
		r.bytes.Add(-size)
		r.dropped.Add(1)
	}
}

// sizeOf returns about how many bytes an event takes. Guards set no metadata.
func sizeOf(e *unloop.Event) int64 {
	return int64(len(e.Input)+len(e.Output)+len(e.Error)+len(e.Text)) + 512
}

// reportOf returns what the guard decided. The first event of a run says that it is guarded, whatever the decision is.
func (r *Reporter) reportOf(d guard.Decision) unloop.GuardReport {
	report := policy.GuardReport(r.by, max(d.Action, d.Shadow), d.Code, d.Nudge, d.Count, d.Findings)
	report.Shadow = d.InShadow()
	return report
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
				_ = r.sender.Flush(ctx) // what it could not send is counted by Stats
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

// Close sends what waits, and gives up when ctx is done. Events that guards add after Close are dropped. It returns the error of ctx if
// it gave up.
func (r *Reporter) Close(ctx context.Context) error {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.queue)
	}
	r.mu.Unlock()
	r.orders.close()
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

// Stats returns the numbers of events so far. Until Close has returned, events on their way are in none of them.
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
