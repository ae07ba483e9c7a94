package guard

import (
	"context"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Control applies what a person does with the run: an event of the type unloop.Control or unloop.Override, with its id. A nudge goes to
// the agent with the next decision that has none. After a pause, Before waits until a resume, a halt or an override. After a halt, all
// decisions about calls halt. An override lets the agent continue; with a tool, calls of the tool are allowed for the rest of the run.
// The event is folded and not passed to Options.Events, because its source already has it.
//
// With a Shared, the event is saved for all guards of the run. If several of them take it, each folds it, and each gives the nudge to
// its agent.
func (g *Guard) Control(e *unloop.Event) {
	g.transact(context.Background(), Usage{}, func() Decision {
		if g.failed != nil || g.closed {
			return Decision{}
		}
		d := g.fold(e.Clone())
		g.obey(e, d)
		return d
	})
}

// obey pauses and resumes the run, and keeps a nudge for the next decision. The caller holds the lock.
func (g *Guard) obey(e *unloop.Event, d Decision) {
	switch {
	case e.Type == unloop.Control && e.Name == unloop.ControlPause:
		if g.paused == nil {
			g.paused = make(chan struct{})
		}
	case e.Type == unloop.Override, e.Name == unloop.ControlResume, e.Name == unloop.ControlHalt:
		g.resume()
	}
	if d.Action == policy.Warn {
		g.pending = &d
	}
}

// resume ends a pause. The caller holds the lock.
func (g *Guard) resume() {
	if g.paused != nil {
		close(g.paused)
		g.paused = nil
	}
}

// awaitResume waits while the run is paused, until ctx is done.
func (g *Guard) awaitResume(ctx context.Context) {
	for paused := g.Paused(); paused != nil; paused = g.Paused() {
		select {
		case <-paused:
		case <-ctx.Done():
			return
		}
	}
}

// Paused returns a channel that is closed when the pause of the run ends, or nil if no person has paused the run. Callers that do not
// want to wait in Before use it.
func (g *Guard) Paused() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// deliver returns the nudge of a person that waits, if the guard has nothing to say about a call itself. The caller holds the lock.
func (g *Guard) deliver(e *unloop.Event, d Decision) Decision {
	if g.pending == nil || d.Action != policy.Allow || e.Type.Kind()&(unloop.AtStart|unloop.AtEnd) == 0 {
		return d
	}
	nudge := *g.pending
	nudge.tool, g.pending = e.Tool, nil
	return nudge
}

// listen subscribes to what people do with the run.
func (g *Guard) listen(controls func(run string, take func(*unloop.Event)) (stop func())) {
	if controls != nil {
		g.stop = controls(g.run, g.Control)
	}
}
