package client

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

const (
	listenFor    = 20 * time.Second       // maximum time that a request waits for an order
	listenPause  = 100 * time.Millisecond // between two requests, while runs come and go
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
	maxListening = 1000 // runs in a request: those that were registered last
)

// Orders fetches from a server the orders that people give to guarded runs. It is safe for concurrent use.
type Orders struct {
	listen func(context.Context, *api.Listen) (*api.Heard, error)
	ctx    context.Context // ends with Close
	end    context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	runs    map[string]*listener
	next    int                // number of the next listener
	changed context.CancelFunc // ends the current request, because the runs changed; nil while there is none
	started bool
}

// listener is the guard of a run.
type listener struct {
	take   func(*unloop.Event)
	number int   // in the order of registration
	after  int64 // number of its last order; -1 for none
}

// NewOrders returns an Orders that fetches with listen, such as Client.Listen. It fetches nothing before Controls is called.
func NewOrders(listen func(context.Context, *api.Listen) (*api.Heard, error)) *Orders {
	ctx, end := context.WithCancel(context.Background())
	return &Orders{listen: listen, ctx: ctx, end: end, runs: make(map[string]*listener)}
}

// Controls calls take with each order to the run, until stop is called. It is a function for guard.Options.Controls. An order
// arrives within a second. While the server is unreachable, a run stays as it is: a paused run stays paused. Beyond 1,000 runs at once,
// the one that was registered first stops listening.
func (o *Orders) Controls(run string, take func(*unloop.Event)) (stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if run == "" || o.ctx.Err() != nil {
		return func() {}
	}
	if _, known := o.runs[run]; !known && len(o.runs) >= maxListening {
		delete(o.runs, o.oldest())
	}
	mine := &listener{take: take, number: o.next, after: -1}
	o.next++
	o.runs[run] = mine
	o.wake()
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.runs[run] == mine {
			delete(o.runs, run)
			o.wake()
		}
	}
}

// oldest returns the run that was registered first. The caller holds the lock.
func (o *Orders) oldest() (oldest string) {
	for run, l := range o.runs {
		if first := o.runs[oldest]; first == nil || l.number < first.number {
			oldest = run
		}
	}
	return oldest
}

// wake starts a request for the current runs. The caller holds the lock.
func (o *Orders) wake() {
	if !o.started {
		o.started = true
		o.done.Go(o.work)
	}
	if o.changed != nil {
		o.changed()
	}
}

// work fetches orders until Close.
func (o *Orders) work() {
	waits := newBackoff(firstBackoff, lastBackoff)
	for o.ctx.Err() == nil {
		ctx, changed := context.WithTimeout(o.ctx, 2*listenFor)
		request := o.request(changed)
		if len(request.Runs) == 0 {
			<-ctx.Done() // a run is registered, or some time passes
			changed()
			continue
		}
		heard, err := o.listen(ctx, request)
		interrupted := ctx.Err() != nil
		changed()
		pause := listenPause
		switch {
		case err == nil:
			waits.Reset()
			o.deliver(heard)
		case !interrupted:
			pause = waits.NextBackOff()
		}
		select {
		case <-time.After(pause):
		case <-o.ctx.Done():
		}
	}
}

// request returns the next request. Calling changed ends it.
func (o *Orders) request(changed context.CancelFunc) *api.Listen {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed = changed
	request := &api.Listen{Wait: int(listenFor.Milliseconds())}
	for run, l := range o.runs {
		request.Runs = append(request.Runs, api.Listener{RunID: run, After: l.after})
	}
	return request
}

// deliver passes orders to the guards.
func (o *Orders) deliver(heard *api.Heard) {
	for k := range heard.Orders {
		order := &heard.Orders[k]
		o.mu.Lock()
		l := o.runs[order.RunID]
		o.mu.Unlock()
		if l != nil && order.Number > l.after {
			l.take(EventOf(order))
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range heard.Runs {
		if l := o.runs[r.RunID]; l != nil {
			l.after = r.After
		}
	}
}

// EventOf returns the event that records an order.
func EventOf(o *api.Order) *unloop.Event {
	e := &unloop.Event{ID: o.EventID, RunID: o.RunID, Type: unloop.Control, Name: o.Act, Text: o.Text, Tool: o.Tool}
	if o.Act == store.Allow {
		e.Type, e.Name = unloop.Override, o.Why
	}
	return e
}

// Close stops fetching.
func (o *Orders) Close() {
	o.end()
	o.done.Wait()
}

// Listen returns the new orders of runs. It waits for one as long as the request says.
func (c *Client) Listen(ctx context.Context, l *api.Listen) (*api.Heard, error) {
	answer, err := c.call(ctx, http.MethodPost, "/api/control/listen", jsonBody(), bytes.NewReader(api.Encode(l)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // only read
	var heard api.Heard
	return &heard, read(answer, &heard)
}
