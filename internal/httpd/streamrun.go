package httpd

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// chunk is the number of runs or decisions that a stream reads from the store at once.
const chunk = 500

func (s *Server) streamRun(w http.ResponseWriter, r *http.Request) error {
	since, known, err := s.lastEventID(r)
	if err != nil {
		return err
	}
	warned, err := newWarningFeed(r)
	if err != nil {
		return err
	}
	st, err := s.open(w, r)
	if err != nil || st == nil {
		return err
	}
	defer st.cancel()
	f := runFeed{stream: st, id: s.RunID(store.Text(store.IDOf(r.PathValue("id")))), since: since, upTo: since, warned: warned}
	return s.ended(f.run(known))
}

// runFeed feeds the stream of one run.
type runFeed struct {
	*stream
	id    string
	since int64 // arrival up to which the client had received events
	upTo  int64 // arrival up to which it has received events now
	state *store.Run
	limit pageSize

	warned warningFeed
}

func (f *runFeed) run(resume bool) error {
	if err := f.catchUp(); err != nil {
		return err
	}
	if resume && f.state == nil && slices.Contains(f.server.Hub.Deleted(f.since), f.id) {
		return f.send(0, runMessage(&store.Update{Run: store.Run{ID: f.id}, Deleted: true}), true)
	}
	sub := f.server.Hub.Subscribe(f.id)
	defer sub.Close()
	if err := f.catchUp(); err != nil {
		return err
	}
	if err := f.snapshot(); err != nil {
		return err
	}
	for {
		m, err := f.next(sub)
		if m == nil {
			return err
		}
		if f.has(m) {
			continue
		}
		deleted := m.Deleted
		if err := f.forward(m, sub.Waiting() == 0); err != nil {
			return err
		}
		if deleted {
			return f.control.Flush()
		}
	}
}

// forward sends an update of the hub. While the client does not read, it holds only the message and not the update.
func (f *runFeed) forward(m *live.Message, flush bool) error {
	id := int64(0)
	if n := len(m.Events); n > 0 {
		id = m.Events[n-1].Arrival
	}
	return f.send(id, f.live(m), flush)
}

// has reports whether the client has already received everything of an update from the store.
func (f *runFeed) has(m *live.Message) bool {
	if n := len(m.Events); n > 0 {
		return m.Events[n-1].Arrival <= f.upTo
	}
	return !m.Deleted && f.state != nil && m.Run.Arrival < f.state.Arrival
}

// catchUp sends all events of the store after upTo.
func (f *runFeed) catchUp() error {
	if f.state == nil {
		state, err := f.server.Store.Run(f.ctx, f.id)
		if err != nil {
			return fmt.Errorf("read a run: %w", err)
		}
		if state == nil {
			return f.write(": waiting for the run\n\n")
		}
		f.state = state
	}
	for more := true; more; {
		err := f.sendBuilt(func() (id int64, data []byte, err error) {
			id, data, more, err = f.page()
			return id, data, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// page encodes the first events of the store after upTo. Without any, there are no data.
func (f *runFeed) page() (id int64, data []byte, more bool, err error) {
	events, more, err := f.server.Store.EventsSince(f.ctx, f.state.Number, f.upTo, f.limit.next())
	if err != nil {
		return 0, nil, false, fmt.Errorf("read events for a stream: %w", err)
	}
	f.limit.saw(events)
	if len(events) == 0 {
		return 0, nil, more, nil
	}
	f.upTo = events[len(events)-1].Arrival
	data, err = f.encode(events, nil)
	return f.upTo, data, more, err
}

// snapshot sends the state of the run, with the decisions at the sent events.
func (f *runFeed) snapshot() error {
	if f.state == nil {
		return nil
	}
	sent := false
	err := f.server.decisionsSince(f.ctx, f.state, f.since, func(decisions []store.Decision) error {
		sent = true
		return f.publish(decisions)
	})
	if err != nil || sent {
		return err
	}
	return f.publish(nil)
}

// publish sends decisions with the run's current state in the store.
func (f *runFeed) publish(decisions []store.Decision) error {
	return f.sendBuilt(func() (int64, []byte, error) {
		data, err := f.encode(nil, decisions)
		return 0, data, err
	})
}

// encode encodes events and decisions with the run's current state in the store.
func (f *runFeed) encode(events []store.Event, decisions []store.Decision) ([]byte, error) {
	state, err := f.server.Store.Run(f.ctx, f.id)
	if err != nil {
		return nil, fmt.Errorf("read a run: %w", err)
	}
	if state != nil && state.Number == f.state.Number {
		f.state = state
	}
	warnings, err := f.server.Store.Warnings(f.ctx, f.state.Number)
	if err != nil {
		return nil, fmt.Errorf("read warnings for a stream: %w", err)
	}
	u := &store.Update{Run: *f.state, Events: events, Warnings: warnings, Decisions: decisions}
	if !f.warned.changes {
		return runMessage(u), nil
	}
	return f.changes(u, runEvents(u)), nil
}

// live encodes an update of the hub in the form that the client requested.
func (f *runFeed) live(m *live.Message) []byte {
	if m.Deleted || !f.warned.changes {
		return m.ForRun.Get(func() []byte { return runMessage(m.Update) })
	}
	return f.changes(m.Update, m.ForRunEvents.Get(func() []byte { return runEvents(m.Update) }))
}

// changes encodes an update with only the changed warnings. The given events may be shared with other streams.
func (f *runFeed) changes(u *store.Update, events []byte) []byte {
	changed, cleared, first := f.warned.change(u.Warnings)
	state := stateOf(u, api.InOrder(changed))
	state.Cleared, state.Reset = cleared, first
	return closeMessage(slices.Clip(events), &state)
}

// runMessage encodes an update for the stream of a run.
func runMessage(u *store.Update) []byte {
	if u.Deleted {
		return api.Encode(api.RunUpdate{Type: "deleted", Events: []api.Event{}, RunState: api.RunState{Warnings: []api.Warning{}, RunID: u.Run.ID, Decisions: []api.Decision{}}})
	}
	state := stateOf(u, latest(u.Warnings))
	return closeMessage(runEvents(u), &state)
}

// The approximate sizes of an encoded message without its events, and of an encoded event without its body.
const (
	messageSize = 2 << 10
	eventSize   = 512
)

// runEvents encodes the beginning of an update: its events.
func runEvents(u *store.Update) []byte {
	size := messageSize
	for i := range u.Events {
		size += eventSize + len(u.Events[i].Body) + len(u.Events[i].Analysis)
	}
	return api.AppendEvents(append(make([]byte, 0, size), `{"type":"update","events":`...), u.Run.ID, u.Events)
}

// closeMessage completes an update with the state of the run.
func closeMessage(events []byte, state *api.RunState) []byte {
	return append(append(events, ','), api.Encode(state)[1:]...)
}

func stateOf(u *store.Update, warnings []store.Warning) api.RunState {
	metrics := api.MetricsOf(&u.Run)
	return api.RunState{
		Metrics: &metrics, Warnings: api.WarningsOf(u.Run.ID, warnings), Status: u.Run.Status,
		RunID: u.Run.ID, Decisions: api.DecisionsOf(u.Run.ID, u.Decisions), Removed: u.Removed, Invalidated: u.Invalidated != nil,
		Analyses: api.AnalysesOf(u.Analyses), AnalysesReset: u.Reset,
	}
}

// decisionsSince calls each with the decisions of a run at events after an arrival, in parts, in the order of the run.
func (s *Server) decisionsSince(ctx context.Context, run *store.Run, arrival int64, each func([]store.Decision) error) error {
	if run.WorstAction == policy.Allow {
		return nil
	}
	for cursor := ""; ; {
		decisions, next, err := s.Store.Decisions(ctx, run.Number, store.Page{Cursor: cursor, Limit: chunk})
		if err != nil {
			return fmt.Errorf("read decisions for a stream: %w", err)
		}
		if decisions, err = s.behind(ctx, run.Number, arrival, decisions); err != nil {
			return err
		}
		if len(decisions) > 0 {
			if err := each(decisions); err != nil {
				return err
			}
		}
		if cursor = next; cursor == "" {
			return nil
		}
	}
}

// behind returns the decisions whose events arrived after an arrival.
func (s *Server) behind(ctx context.Context, run, arrival int64, decisions []store.Decision) ([]store.Decision, error) {
	if arrival == 0 || len(decisions) == 0 {
		return decisions, nil
	}
	ids := make([]string, len(decisions))
	for i := range decisions {
		ids[i] = decisions[i].EventID
	}
	arrivals, err := s.Store.Arrivals(ctx, run, ids)
	if err != nil {
		return nil, fmt.Errorf("read the events of decisions: %w", err)
	}
	kept := decisions[:0]
	for _, d := range decisions {
		if arrivals[d.EventID] > arrival {
			kept = append(kept, d)
		}
	}
	return kept, nil
}
