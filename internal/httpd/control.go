package httpd

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/boundedmap"
	"github.com/unloop-ai/unloop/internal/pipeline"
	"github.com/unloop-ai/unloop/internal/store"
)

// controls keeps track of the guards that listen for orders. It is safe for concurrent use.
type controls struct {
	mu        sync.Mutex
	given     chan struct{}                 // closed at the next order
	listening map[string]int                // open requests, by run
	heard     boundedmap.Map[string, int64] // number of the last fetched order, by run, of the runs that listened last
}

// maxHeard is the minimum number of runs that controls.heard keeps.
const maxHeard = 10_000

func newControls() *controls {
	return &controls{given: make(chan struct{}), listening: make(map[string]int), heard: boundedmap.Map[string, int64]{Max: maxHeard}}
}

// wake answers all open requests for orders.
func (c *controls) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.given)
	c.given = make(chan struct{})
}

// next returns a channel that is closed at the next order.
func (c *controls) next() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.given
}

// listen records that guards of runs listen, and their last orders. Calling stop ends that.
func (c *controls) listen(runs []api.Listener) (stop func()) {
	add := func(n int) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range runs {
			if c.listening[r.RunID] += n; c.listening[r.RunID] <= 0 {
				delete(c.listening, r.RunID)
			}
			last, _ := c.heard.Get(r.RunID)
			c.heard.Set(r.RunID, max(last, r.After))
		}
	}
	add(1)
	return func() { add(-1) }
}

// state returns whether a guard of the run listens, and the last order that it fetched.
func (c *controls) state(run string) (listening bool, heard int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	heard, _ = c.heard.Get(run)
	return c.listening[run] > 0, heard
}

type (
	orderInput struct {
		RunPath
		Authorization string `header:"Authorization" hidden:"true"`
		Body          api.NewOrder
	}
	orderAnswer struct {
		Status int
		Body   api.Order
	}
	controlAnswer struct{ Body api.ControlState }
	listenInput   struct{ Body api.Listen }
	heardAnswer   struct{ Body api.Heard }
)

func (s *Server) controlRoutes() {
	op := s.operation(http.MethodPost, "/api/runs/{id}/control", Admin, "control", "control-run", "Nudge, pause, resume, allow or halt a guarded run",
		"Gives an order to the guard of the run, and records it as an event of the run. A guard that listens gets it within a second. For "+
			"an observed run it answers with status 409, because no guard would get the order.")
	op.DefaultStatus = http.StatusCreated
	query(s, op, s.control)
	op = s.operation(http.MethodGet, "/api/runs/{id}/control", Read, "control", "get-control", "Get what people ordered of a run",
		"The orders that were given to the guard of the run, and whether the guard listens.")
	query(s, op, s.controlState)
	op = s.operation(http.MethodPost, "/api/control/listen", Ingest, "control", "listen", "Wait for orders",
		"For guards. Answers with the new orders of the runs: at once, as soon as there is one, or with none after wait_ms.")
	query(s, op, s.listen)
}

// control records an order as an event of the run.
func (s *Server) control(ctx context.Context, in *orderInput) (*orderAnswer, error) {
	run, err := s.runOf(ctx, in.run())
	if err != nil {
		return nil, err
	}
	if run.Guard.By == "" && run.Guard.ShadowedBy == "" {
		return nil, problem(http.StatusConflict, "id", "the run is observed: no guard would get the order")
	}
	o := &in.Body
	if o.Act == unloop.ControlNudge && strings.TrimSpace(o.Text) == "" {
		return nil, problem(http.StatusUnprocessableEntity, "text", "a nudge needs a text for the agent")
	}
	c := &store.Control{
		EventID: "order-" + rand.Text(), Act: o.Act, Text: s.Name(o.Text), Tool: s.Name(o.Tool), Why: s.Name(o.Why), By: s.who(in.Authorization, o.By),
		At: time.Now().UTC().Truncate(time.Microsecond),
	}
	_, err = s.Pipeline.Submit(ctx, &pipeline.Submission{
		Runs: []pipeline.Info{{ID: run.ID, Control: c}}, Events: []*unloop.Event{eventOf(run.ID, c)},
	})
	if err != nil {
		return nil, err
	}
	s.controls.wake()
	if run, err = s.runOf(ctx, run.ID); err != nil {
		return nil, err
	}
	for k := range run.Controls {
		if run.Controls[k].EventID == c.EventID {
			c = &run.Controls[k]
		}
	}
	return &orderAnswer{http.StatusCreated, api.OrderOf(run.ID, c)}, nil
}

// who returns the name of the person who gives an order. It consists of the name of the token and the name in the request.
func (s *Server) who(authorization, person string) string {
	name := s.actor(authorization)
	switch person = s.Name(person); {
	case person == "":
		return name
	case len(s.auth.tokens) == 0:
		return person
	}
	return name + " (" + person + ")"
}

// eventOf returns the event of the run that records an order.
func eventOf(run string, c *store.Control) *unloop.Event {
	e := &unloop.Event{ID: c.EventID, RunID: run, Time: c.At, Type: unloop.Control, Name: c.Act, Text: c.Text, Tool: c.Tool}
	if c.Act == store.Allow {
		e.Type, e.Name = unloop.Override, c.Why
	}
	e.Metadata, _ = json.Marshal(map[string]any{"control": map[string]string{"act": c.Act, "by": c.By, "why": c.Why}}) // texts always encode
	return e
}

func (s *Server) controlState(ctx context.Context, in *RunPath) (*controlAnswer, error) {
	run, err := s.runOf(ctx, in.run())
	if err != nil {
		return nil, err
	}
	listening, heard := s.controls.state(run.ID)
	return &controlAnswer{api.ControlStateOf(run, listening, heard)}, nil
}

func (s *Server) listen(ctx context.Context, in *listenInput) (*heardAnswer, error) {
	heard, err := s.Listen(ctx, &in.Body)
	if err != nil {
		return nil, err
	}
	return &heardAnswer{*heard}, nil
}

// Listen returns the orders that guards do not have. If there is none, it waits for one, as long as the request says.
func (s *Server) Listen(ctx context.Context, l *api.Listen) (*api.Heard, error) {
	timeout := time.NewTimer(time.Duration(l.Wait) * time.Millisecond)
	defer timeout.Stop()
	var others <-chan time.Time // ticks in a cluster, because other servers take orders, too
	if s.Cluster != nil {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		others = tick.C
	}
	runs := l.Runs
	listening := false
	for {
		given := s.controls.next() // before the store is read, so that no order is missed
		heard, err := s.ordersFor(ctx, runs)
		if err != nil || len(heard.Orders) > 0 {
			return &heard, err
		}
		runs = heard.Runs // with the numbers of their last orders
		if !listening {
			// The guard counts as listening after the first read, because that read drops nudges.
			defer s.controls.listen(s.recordedAs(l.Runs))()
			listening = true
		}
		select {
		case <-given:
		case <-others:
		case <-timeout.C:
			return &heard, nil
		case <-s.running.Done():
			return &heard, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// recordedAs returns the listeners with the ids under which their runs are recorded.
func (s *Server) recordedAs(runs []api.Listener) []api.Listener {
	recorded := make([]api.Listener, len(runs))
	for k, r := range runs {
		recorded[k] = api.Listener{RunID: s.recordedID(r.RunID), After: r.After}
	}
	return recorded
}

// recordedID returns the id under which a run is recorded: masked and shortened as that of its events.
func (s *Server) recordedID(id string) string { return store.Key(s.RunID(id)) }

func (s *Server) ordersFor(ctx context.Context, runs []api.Listener) (api.Heard, error) {
	heard := api.Heard{Orders: []api.Order{}, Runs: make([]api.Listener, 0, len(runs))}
	for _, of := range runs {
		run, err := s.Store.Run(ctx, s.recordedID(of.RunID))
		if err != nil {
			return heard, fmt.Errorf("read a run: %w", err)
		}
		if run == nil { // its first events are on their way
			heard.Runs = append(heard.Runs, api.Listener{RunID: of.RunID, After: max(0, of.After)})
			continue
		}
		acts := run.Controls
		if of.After < 0 {
			acts = store.Standing(acts)
		}
		for k := range acts {
			if acts[k].Number > of.After && acts[k].Ends == 0 { // the guard already knows an order that it reported
				heard.Orders = append(heard.Orders, api.OrderOf(of.RunID, &acts[k]))
			}
		}
		last := int64(0)
		if n := len(run.Controls); n > 0 {
			last = run.Controls[n-1].Number
		}
		heard.Runs = append(heard.Runs, api.Listener{RunID: of.RunID, After: last})
	}
	return heard, nil
}
