package proxy

import (
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/policy"
)

// maxOrders is how many orders of a run wait for its next request, the latest.
const maxOrders = 64

// orders are the orders of people to a run, until the run's next request. It is safe for concurrent use.
type orders struct {
	mu     sync.Mutex
	events []*unloop.Event // those that are not folded
	paused chan struct{}   // closed at the end of the pause; nil if the run is not paused
	pause  string          // the id of the order to pause
	stop   func()
	ended  bool // nobody listens any more
}

// listen returns the orders of a run. Without controls there are none.
func listen(run string, controls func(run string, take func(*unloop.Event)) (stop func())) *orders {
	o := &orders{stop: func() {}}
	if controls != nil {
		o.stop = controls(run, o.take)
	}
	return o
}

// end stops listening and ends a pause.
func (o *orders) end() {
	if o == nil {
		return
	}
	o.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	o.resume()
}

// evicted ends the orders of a conversation that is forgotten. Those of a paused run stay: its request waits for the end of the pause.
func (o *orders) evicted() {
	if o != nil && !o.isPaused() {
		o.end()
	}
}

func (o *orders) isPaused() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.paused != nil
}

// take keeps an order for the next request. A pause and its end hold at once.
func (o *orders) take(e *unloop.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case e.Type == unloop.Control && e.Name == unloop.ControlPause:
		if o.paused == nil {
			o.paused = make(chan struct{})
		}
		o.pause = e.ID
	case e.Type == unloop.Override, e.Name == unloop.ControlResume, e.Name == unloop.ControlHalt:
		o.resume()
	}
	o.events = append(o.events, e.Clone())
	o.events = o.events[max(0, len(o.events)-maxOrders):]
}

// resume ends a pause. The caller holds the lock.
func (o *orders) resume() {
	if o.paused != nil {
		close(o.paused)
		o.paused = nil
	}
}

// next returns the orders that are not folded, and a channel that is closed at the end of a pause, or nil.
func (o *orders) next() (events []*unloop.Event, paused <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	events, o.events = o.events, nil
	return events, o.paused
}

// release ends a pause. It returns the id of the order, and reports whether there was one.
func (o *orders) release() (order string, paused bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	paused = o.paused != nil
	o.resume()
	return o.pause, paused
}

// personsNudge is a nudge of a person. It goes with one request and with the retries of that request.
type personsNudge struct {
	text     string
	sent     bool
	sequence int64 // of the request that it went with
}

// verdict folds the orders that people gave while the request was folded, and returns the verdict about the request.
func (c *conversation) verdict(r *request) verdict {
	v := verdict{request: r, run: c.run, sequence: c.sequence}
	if c.session == nil { // the request could not be read
		return v
	}
	if c.nudge.sent && c.nudge.sequence != c.sequence {
		c.nudge = personsNudge{}
	}
	paused := c.obeyOrders()
	if c.nudge.text != "" && paused == nil {
		c.nudge.sent, c.nudge.sequence = true, c.sequence
		v.nudge = c.nudge.text
	}
	v.turn, v.paused = c.turn, paused
	return v
}

// listenAgain listens for orders again if the conversation was evicted while a request of it was judged, after which it is kept again. The
// caller holds the lock.
func (c *conversation) listenAgain() {
	o := c.orders.Load()
	if o == nil {
		return
	}
	o.mu.Lock()
	ended := o.ended
	o.mu.Unlock()
	if ended {
		c.orders.Store(listen(c.run, c.owner.controls))
	}
}

// obeyOrders folds the orders that are not folded. It returns a channel that is closed at the end of a pause, or nil.
func (c *conversation) obeyOrders() (paused <-chan struct{}) {
	events, paused := c.orders.Load().next()
	for _, e := range events {
		c.obey(e)
	}
	return paused
}

// obey folds an order. A halt holds from this request on. An order that lets the agent continue takes back the decision.
func (c *conversation) obey(e *unloop.Event) {
	e.Time = time.Now()
	d := c.session.Add(e)
	switch {
	case d.Action == policy.Warn:
		c.nudge = personsNudge{text: nudge.Join(c.nudge.text, d.Message)}
	case d.Action == policy.Halt:
		c.halted, c.halt = true, e.ID
		c.turn.decision, c.turn.message = d, d.Message
		c.turn.report = policy.GuardReport(guardName, d.Action, d.Code, d.Message, 0, nil)
	case e.Type == unloop.Override, e.Name == unloop.ControlResume && c.turn.decision.Code == policy.CodePerson:
		c.turn.decision, c.turn.nudge, c.turn.last = policy.Decision{}, "", ""
	}
	if e.Type == unloop.Override || e.Name == unloop.ControlResume {
		c.halted = false
	}
}

// release ends a pause and a halt that a person ordered before the next event, which is a new message of a person. It returns the event
// that says so, or nil if there was neither.
func (c *conversation) release() *unloop.Event {
	order, paused := c.orders.Load().release()
	if !paused && !c.halted {
		return nil
	}
	if !paused {
		order = c.halt
	}
	c.halted = false
	e := unloop.Release(c.run, guardName, order)
	e.Sequence, e.Time = c.sequence, time.Now()
	c.session.Add(e)
	return e
}
