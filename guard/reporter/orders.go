package reporter

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
)

const (
	listenFor    = 20 * time.Second       // how long a request waits for an order
	listenPause  = 100 * time.Millisecond // between two requests, while runs come and go
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Second
	maxListening = 1000 // runs whose orders are asked for; the others hear none
)

// orders asks the server what people order of the runs of guards. It is safe for concurrent use.
type orders struct {
	client *client.Client
	ctx    context.Context // ends with close
	end    context.CancelFunc
	*listeners
}

type listeners struct {
	mu      sync.Mutex
	runs    map[string]*listener
	changed context.CancelFunc // ends the request at hand, because the runs changed; nil while there is none
	started bool
	done    sync.WaitGroup
}

// listener is the guard of a run.
type listener struct {
	take  func(*unloop.Event)
	after int64 // number of its last order; -1 for none
}

func newOrders(c *client.Client) orders {
	ctx, end := context.WithCancel(context.Background())
	return orders{client: c, ctx: ctx, end: end, listeners: &listeners{runs: make(map[string]*listener)}}
}

// Controls has take called with what people order of the run, until stop is called; it is for guard.Options.Controls. An order arrives
// within a second. While the server is away, a run stays as it is: a paused one stays paused. Of more than 1,000 runs at once, the later
// ones hear nothing.
func (r *Reporter) Controls(run string, take func(*unloop.Event)) (stop func()) {
	o := &r.orders
	o.mu.Lock()
	defer o.mu.Unlock()
	if run == "" || o.ctx.Err() != nil || len(o.runs) >= maxListening {
		return func() {}
	}
	mine := &listener{take: take, after: -1}
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

// wake has the runs asked for anew. The caller holds the lock.
func (o *orders) wake() {
	if !o.started {
		o.started = true
		o.done.Go(o.listen)
	}
	if o.changed != nil {
		o.changed()
	}
}

// listen asks until the reporter is closed.
func (o *orders) listen() {
	waits := backoff.ExponentialBackOff{InitialInterval: firstBackoff, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: lastBackoff}
	for o.ctx.Err() == nil {
		ctx, changed := context.WithTimeout(o.ctx, 2*listenFor)
		asked := o.ask(changed)
		if len(asked.Runs) == 0 {
			<-ctx.Done() // a run comes, or some time passes
			changed()
			continue
		}
		heard, err := o.client.Listen(ctx, asked)
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

// ask returns the next request, which changed ends.
func (o *orders) ask(changed context.CancelFunc) *api.Listen {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed = changed
	asked := &api.Listen{Wait: int(listenFor.Milliseconds())}
	for run, l := range o.runs {
		asked.Runs = append(asked.Runs, api.Listener{RunID: run, After: l.after})
	}
	return asked
}

// deliver hands orders to the guards.
func (o *orders) deliver(heard *api.Heard) {
	for k := range heard.Orders {
		c := &heard.Orders[k]
		o.mu.Lock()
		l := o.runs[c.RunID]
		o.mu.Unlock()
		if l != nil && c.Number > l.after {
			l.take(eventOf(c))
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

// eventOf returns the event that records an order.
func eventOf(c *api.Control) *unloop.Event {
	e := &unloop.Event{ID: c.EventID, RunID: c.RunID, Type: unloop.Control, Name: c.Act, Text: c.Text, Tool: c.Tool}
	if c.Act == "allow" {
		e.Type, e.Name = unloop.Override, c.Why
	}
	return e
}

// close ends the requests.
func (o *orders) close() {
	o.end()
	o.done.Wait()
}
