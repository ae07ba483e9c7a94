package httpd

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/live"
	"github.com/unloop-ai/unloop/internal/store"
)

func (s *Server) streamAll(w http.ResponseWriter, r *http.Request) error {
	since, known, err := s.lastEventID(r)
	if err != nil {
		return err
	}
	since = s.Hub.Seen(since)
	st, err := s.open(w, r)
	if err != nil || st == nil {
		return err
	}
	defer st.cancel()
	f := overviewFeed{stream: st, since: since, read: make(map[int64]int64)}
	return s.ended(f.run(known))
}

// overviewFeed feeds the stream of all runs. The rows of runs may be older than their events, by different times. The stream
// therefore does not compare arrivals with the rows that it has read. It notes what the hub had published before the rows were
// flushed: the rows include all of that, and the hub sends everything later.
type overviewFeed struct {
	*stream
	since int64           // the client has received everything up to this arrival
	read  map[int64]int64 // by number, the arrival of the latest event of the runs that were read since the subscription
}

func (f *overviewFeed) run(resume bool) error {
	if resume { // without a subscription, whose queue would overflow during the replay
		latest := f.server.Hub.Latest()
		if err := f.publishDeleted(); err != nil {
			return err
		}
		if err := f.catchUp(f.since, latest, false); err != nil {
			return err
		}
		f.since = max(f.since, latest)
	}
	sub := f.server.Hub.Subscribe("")
	defer sub.Close()
	if resume {
		if err := f.publishDeleted(); err != nil {
			return err
		}
		if err := f.catchUp(f.since, f.server.Hub.Latest(), true); err != nil {
			return err
		}
	}
	if err := f.write(": live\n\n"); err != nil {
		return err
	}
	for {
		m, err := f.next(sub)
		if m == nil {
			return err
		}
		sent, err := f.publish(gather(sub, m))
		if err != nil {
			return err
		}
		f.throttle(sent)
	}
}

// publishDeleted sends the runs that were deleted since the client's last connection. A run that was created again follows as a
// changed run.
func (f *overviewFeed) publishDeleted() error {
	if f.since == 0 {
		return nil // a new client knows no runs
	}
	for _, id := range f.server.Hub.Deleted(f.since) {
		if err := f.send(0, overviewMessage(&store.Update{Run: store.Run{ID: id}, Deleted: true}), true); err != nil {
			return err
		}
	}
	return nil
}

// catchUp sends the current state of the runs that changed after an arrival. With all, it reads to the end of the store.
// Otherwise it leaves the runs that changed after latest for later. A message has an id only if everything up to that id was
// sent.
func (f *overviewFeed) catchUp(since, latest int64, all bool) error {
	for {
		runs, err := f.server.Store.RunsSince(f.ctx, since, chunk)
		if err != nil {
			return fmt.Errorf("read runs for a stream: %w", err)
		}
		for i := range runs {
			id := runs[i].Arrival
			if id > latest {
				if id = 0; !all {
					return nil
				}
			}
			if err := f.snapshot(&runs[i], id); err != nil {
				return err
			}
			if all {
				f.read[runs[i].Number] = runs[i].Arrival
			}
			since = runs[i].Arrival
		}
		if len(runs) < chunk {
			return nil
		}
	}
}

// perMessage is the minimum time between two messages of a stream, which limits it to 10,000 a second; faster updates are merged.
// maxRest is the maximum time for which updates are merged.
const (
	perMessage = 100 * time.Microsecond
	maxRest    = 250 * time.Millisecond
	restLeast  = 5 * time.Millisecond
)

func (f *overviewFeed) throttle(sent int) {
	pause := min(time.Duration(sent)*perMessage, maxRest)
	if pause < restLeast {
		return
	}
	select {
	case <-time.After(pause):
	case <-f.ctx.Done():
	}
}

// snapshot sends the current state of a run.
func (f *overviewFeed) snapshot(run *store.Run, id int64) error {
	return f.sendBuilt(func() (int64, []byte, error) {
		data, err := f.current(run)
		return id, data, err
	})
}

// current encodes the current state of a run.
func (f *overviewFeed) current(run *store.Run) ([]byte, error) {
	u := store.Update{Run: *run}
	var err error
	if run.Warnings > 0 {
		if u.Warnings, err = f.server.Store.Warnings(f.ctx, run.Number); err != nil {
			return nil, fmt.Errorf("read warnings for a stream: %w", err)
		}
		for i := range u.Warnings {
			u.Raised = append(u.Raised, i)
		}
	}
	err = f.server.decisionsSince(f.ctx, run, f.since, func(decisions []store.Decision) error {
		u.Decisions = append(u.Decisions, decisions...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return overviewMessage(&u), nil
}

// change is one message about a run, made of one or several updates. It keeps no events, because the updates that a client has not read
// no longer count as waiting in the hub.
type change struct {
	*store.Update
	message *live.Message // nil for several updates, and after light
	events  bool          // the update has events
	data    []byte        // the encoding that streams share; nil for several updates
}

// light encodes the message of a change and removes its events.
func (c *change) light() {
	c.events = len(c.Events) > 0
	if c.message != nil {
		c.data = c.message.ForAll.Get(func() []byte { return overviewMessage(c.Update) })
		c.message = nil
	}
	update := *c.Update
	update.Events, update.Analyses = nil, nil
	c.Update = &update
}

// gather returns the first update and all waiting ones, merged by run, in the order of their arrival.
func gather(sub *live.Subscription, first *live.Message) []change {
	changes := merged(sub, first)
	for i := range changes {
		changes[i].light()
	}
	return changes
}

// merged returns the changes of gather with their events.
func merged(sub *live.Subscription, first *live.Message) []change {
	changes := []change{{Update: first.Update, message: first}}
	waiting := sub.Waiting()
	if waiting == 0 {
		return changes
	}
	at := map[int64]int{first.Run.Number: 0}
	for range waiting {
		m, ok := sub.Try()
		if !ok {
			break
		}
		if i, known := at[m.Run.Number]; known {
			changes[i] = change{Update: merge(changes[i].Update, m.Update)}
			continue
		}
		at[m.Run.Number] = len(changes)
		changes = append(changes, change{Update: m.Update, message: m})
	}
	slices.SortStableFunc(changes, func(a, b change) int { return cmp.Compare(a.Run.Arrival, b.Run.Arrival) })
	return changes
}

// merge returns one update for two of a run, as far as the stream of all runs needs it.
func merge(a, b *store.Update) *store.Update {
	if b.Deleted {
		return b
	}
	both := &store.Update{Run: b.Run, Warnings: b.Warnings, Events: b.Events, Invalidated: cmp.Or(b.Invalidated, a.Invalidated)}
	if len(both.Events) == 0 {
		both.Events = a.Events
	}
	changed := make(map[string]bool)
	for _, u := range [...]*store.Update{a, b} {
		for _, list := range [...][]int{u.Raised, u.Grown} {
			for _, i := range list {
				changed[u.Warnings[i].ID] = true
			}
		}
	}
	for i := range both.Warnings {
		if changed[both.Warnings[i].ID] {
			both.Raised = append(both.Raised, i)
		}
	}
	if b.Invalidated == nil {
		both.Decisions = append(both.Decisions, a.Decisions...)
	}
	both.Decisions = append(both.Decisions, b.Decisions...)
	return both
}

// publish sends changes and returns the number of sent ones.
func (f *overviewFeed) publish(changes []change) (sent int, err error) {
	for _, c := range changes {
		id := c.Run.Arrival
		if !c.events {
			id = 0
		} else if id <= f.since || id <= f.read[c.Run.Number] {
			continue // it was sent before
		}
		data := c.data
		if data == nil {
			data = overviewMessage(c.Update)
		}
		if err := f.send(id, data, false); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, f.control.Flush()
}

// overviewMessage encodes an update for the stream of all runs.
func overviewMessage(u *store.Update) []byte {
	if u.Deleted {
		return api.Encode(api.OverviewUpdate{Type: "deleted", RunID: u.Run.ID, Warnings: []api.Warning{}, Decisions: []api.Decision{}})
	}
	run := api.SummaryOf(&u.Run)
	changed := make([]api.Warning, 0, len(u.Raised)+len(u.Grown))
	for _, list := range [...][]int{u.Raised, u.Grown} {
		for _, i := range list {
			changed = append(changed, api.WarningOf(u.Run.ID, &u.Warnings[i]))
		}
	}
	return api.Encode(api.OverviewUpdate{
		Type: "run", Run: &run, Warnings: changed, Decisions: api.DecisionsOf(u.Run.ID, u.Decisions), RunID: u.Run.ID, Invalidated: u.Invalidated != nil,
	})
}
