package guard

import (
	"strconv"

	"github.com/unloop-ai/unloop"
)

// add folds an event of the agent and hands it on. The caller holds the lock.
func (g *Guard) add(e unloop.Event) (d Decision) {
	d = g.fold(&e)
	if g.failed != nil {
		return d
	}
	d = g.deliver(&g.event, d)
	if g.events != nil {
		g.event.RunID = g.run
		g.passOn(d)
	}
	return d
}

// fold folds an event, which gets an id if it has none. A panic fails the guard. The caller holds the lock.
func (g *Guard) fold(e *unloop.Event) (d Decision) {
	if g.failed != nil {
		return g.failedDecision(e.Tool)
	}
	defer func() {
		if cause := recover(); cause != nil {
			g.fail(cause)
			d = g.failedDecision(e.Tool)
		}
	}()
	if e.Type == unloop.Override || e.Type == unloop.MessageSent && e.Role == unloop.RoleUser {
		g.halted = nil
	}
	g.event = *e
	if g.event.ID == "" {
		g.event.ID = eventID(g.next)
	}
	g.event.Index, g.event.Time = g.next, g.now()
	g.next++
	return newDecision(g.session.Add(&g.event), e.Tool, g.profile)
}

// passOn passes the current event to Options.Events. With a Shared, it waits until the event is saved.
func (g *Guard) passOn(d Decision) {
	if g.shared == nil {
		g.publishEvent(&g.event, d)
		return
	}
	g.shared.pending = append(g.shared.pending, pendingEvent{g.event, d})
}

// publishEvent calls Options.Events. After a panic there, the agent continues. The caller holds the lock.
func (g *Guard) publishEvent(e *unloop.Event, d Decision) {
	defer func() {
		if recover() != nil {
			g.droppedEvents++
		}
	}()
	g.events(e, d)
}

// eventID returns the id of the event with the number.
func eventID(number int) string {
	var id [24]byte
	return string(strconv.AppendInt(append(id[:0], 'g'), int64(number), 10))
}
