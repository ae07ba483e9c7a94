package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// storeDeadline is how long a guard waits for the store at each event.
const storeDeadline = 250 * time.Millisecond

// CodeProjectLimit is the code of the decision to halt because a project has used what it may use in an hour.
const CodeProjectLimit = "project_limit"

// Shared connects a guard to the state of its run in a store. Guards in many processes may then judge consecutive calls of the run,
// and their decisions are those of one guard that judges all calls. They must have the same profile and settings, and be built of the
// same version of this module: a snapshot of another version is replaced, so the run starts again, and OnError receives the reason.
//
// Each event is one round trip to the store if this guard has judged the event before it, and two otherwise. A guard waits until the
// context is done, and at most 250 ms. If the store does not answer in time or returns an error, the guard decides from what it knows of
// the run, no limit applies, and Stats.StoreErrors is incremented. The guard saves what it knows with the next event. If another
// guard has saved in the meantime, the run continues from there, and the unsaved events are lost.
//
// A Shared belongs to one guard. Options.Run must be set. A guard with a Shared asks for no second opinion.
type Shared struct {
	Store   Store
	Project string      // whose usage is counted; "" for none
	Limits  Usage       // the most that the project may use in an hour; 0 means no limit
	OnError func(error) // receives the first error of the store; may be nil

	turn        sync.Mutex // held while an event is folded and saved
	version     int64      // of the state of the guard in the store; 0 if it was not saved
	pending     []pendingEvent
	storeErrors storeErrors
}

// pendingEvent is an event that Options.Events receives when it is saved.
type pendingEvent struct {
	event    unloop.Event
	decision Decision
}

// The most that one event adds to the usage of a project. Sums of an hour stay within the numbers of every store.
const (
	maxTokens = 1e12
	maxCost   = 1e9 // US dollars
)

// usageOf returns the usage by an event. A cost that is no number, and negative numbers, count as 0, so that no event gives a project more
// than its limits.
func usageOf(tokens int64, cost float64) Usage {
	u := Usage{Tokens: min(max(tokens, 0), maxTokens)}
	if cost > 0 { // false for NaN
		u.Cost = min(cost, maxCost)
	}
	return u
}

func (s *Shared) key(run string) RunKey { return RunKey{s.Project, run} }

// save saves a change in the store, whose panic is an error.
func (s *Shared) save(ctx context.Context, run string, c Change) (_ Saved, err error) {
	defer caught("save", &err)
	return s.Store.Save(ctx, s.key(run), c)
}

// noteError counts an error of the store and reports the first one.
func (s *Shared) noteError(ctx context.Context, run string, err error) {
	s.storeErrors.note(ctx, fmt.Errorf("share the state of run %s: %w", run, err), s.OnError)
}

// transact folds one event, or two that belong together, and returns the decision. With a Shared, it folds on the latest state in
// the store and saves the result, and calls fold again if another guard was faster. The function fold is called with the lock.
func (g *Guard) transact(ctx context.Context, use Usage, fold func() Decision) Decision {
	if g.shared == nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		return fold()
	}
	return g.transactShared(ctx, use, fold)
}

// transactShared loads the latest state from the store, folds the event into it, and saves the result. It repeats this if another guard has saved
// in between.
func (g *Guard) transactShared(ctx context.Context, use Usage, fold func() Decision) Decision {
	s := g.shared
	s.turn.Lock()
	defer s.turn.Unlock()
	within, cancel := context.WithTimeout(ctx, storeDeadline)
	defer cancel()
	g.mu.Lock()
	nudge := g.pending
	g.mu.Unlock()
	var inShadow *Decision // what is reported in shadow mode, in place of the decision about the event
	for limits := s.Limits; ; {
		d, c, err := g.change(fold, inShadow, nudge, use, limits)
		if err != nil { // the guard has failed, or a custom policy has no snapshot
			g.publish(ctx, err)
			return d
		}
		saved, err := s.save(within, g.run, c)
		if err == nil && saved.Status == Done {
			s.version = saved.Version
		}
		if err != nil || saved.Status == Done {
			g.publish(ctx, err)
			return d
		}
		g.adopt(ctx, saved)
		if saved.Status == OverLimit {
			over := g.overLimit(saved.Used, d.tool, nudge)
			if over.Stops() {
				return over
			}
			limits, inShadow = Usage{}, &over // the call runs and counts
		}
	}
}

// change folds an event and returns what is to be saved. The decision is inShadow unless that is nil. The nudge of a person waits for
// each attempt, until one is saved.
func (g *Guard) change(fold func() Decision, inShadow, nudge *Decision, use, limits Usage) (Decision, Change, error) {
	g.mu.Lock()
	s := g.shared
	s.pending, g.pending = s.pending[:0], nudge
	d := fold()
	if inShadow != nil {
		d = *inShadow
	}
	g.mu.Unlock()
	data, err := g.AppendBinary(nil)
	if err == nil {
		data, err = compress(data)
	}
	c := Change{Version: s.version, Data: data}
	if s.Project != "" && !d.Stops() && use != (Usage{}) {
		c.Use = use
		if use.Calls > 0 {
			c.Limits = limits
		}
	}
	return d, c, err
}

// publish gives the judged events to Options.Events, and reports the error of the store.
func (g *Guard) publish(ctx context.Context, err error) {
	if err != nil {
		g.shared.noteError(ctx, g.run, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for k := range g.shared.pending {
		p := &g.shared.pending[k]
		g.publishEvent(&p.event, p.decision)
	}
	clear(g.shared.pending)
}

// adopt replaces the state by the one in the store. A snapshot that cannot be read is reported, and the run starts again.
func (g *Guard) adopt(ctx context.Context, saved Saved) {
	latest := New(g.profile, Options{Run: g.run})
	if saved.Version != 0 {
		read, err := g.read(saved.Data)
		if err == nil {
			latest = read
		} else {
			g.shared.noteError(ctx, g.run, err)
		}
	}
	g.shared.version = saved.Version
	g.mu.Lock()
	defer g.mu.Unlock()
	g.session, g.next, g.stats = latest.session, latest.next, latest.stats
}

func (g *Guard) read(data []byte) (*Guard, error) {
	plain, err := decompress(data)
	if err != nil {
		return nil, err
	}
	return Restore(g.profile, Options{Run: g.run}, plain)
}

// Load replaces the state of the guard by the latest one in the store, for State and Stats: decisions need no Load. A guard
// keeps its state if the store does not have the run. It is an error if the guard has no Shared.
func (g *Guard) Load(ctx context.Context) error {
	if g.shared == nil {
		return errors.New("load a run: the guard has no Shared")
	}
	g.shared.turn.Lock()
	defer g.shared.turn.Unlock()
	saved, err := g.shared.Store.Load(ctx, g.shared.key(g.run))
	if err != nil {
		return fmt.Errorf("load run %s: %w", g.run, err)
	}
	if saved.Version != 0 {
		g.adopt(ctx, saved)
	}
	return nil
}

// overLimit returns the decision about a call that the limits of the project do not allow. The call is not an event
// of the run, and Stats do not count the decision.
func (g *Guard) overLimit(used Usage, tool string, nudge *Decision) Decision {
	g.mu.Lock()
	g.pending = nudge // the call did not run, so a person's nudge still waits
	g.mu.Unlock()
	limits := g.shared.Limits
	d := Decision{Action: policy.Halt, Code: CodeProjectLimit, Count: int(used.Calls), tool: tool, prefix: g.profile.MessagePrefix(), inShadow: g.profile.Shadow()}
	switch {
	case limits.Calls > 0 && used.Calls >= limits.Calls:
		d.Nudge = fmt.Sprintf("The project has made %d calls in this hour. Its limit is %d.", used.Calls, limits.Calls)
	case limits.Tokens > 0 && used.Tokens >= limits.Tokens:
		d.Nudge = fmt.Sprintf("The project has used %d tokens in this hour. Its limit is %d.", used.Tokens, limits.Tokens)
	default:
		d.Nudge = fmt.Sprintf("The project has spent $%.2f in this hour. Its limit is $%.2f.", used.Cost, limits.Cost)
	}
	d.Nudge += " Stop, and continue in the next hour."
	if g.profile.Shadow() {
		d.Action, d.Shadow = policy.Allow, d.Action
	}
	return d
}
