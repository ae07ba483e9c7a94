package pipeline

import (
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxUnreadable bounds the unreadable events that are told apart.
const maxUnreadable = 10_000

// unreadable remembers events of the store that cannot be decoded. A run is read more than once; each event counts once.
type unreadable struct {
	mu       sync.Mutex
	arrivals map[int64]struct{}
}

// add reports whether an event is new among them.
func (u *unreadable) add(arrival int64) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, known := u.arrivals[arrival]; known || len(u.arrivals) >= maxUnreadable {
		return false
	}
	if u.arrivals == nil {
		u.arrivals = make(map[int64]struct{})
	}
	u.arrivals[arrival] = struct{}{}
	return true
}

func (u *unreadable) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.arrivals)
}

// decode reads an event of the store. It returns nil for one that cannot be read: such an event is left out, so that it does not
// keep its run, and all that is recorded together with it, from going on.
func (p *Pipeline) decode(e *store.Event) *unloop.Event {
	event, err := store.Decode(e.Body)
	if err != nil {
		if p.unreadable.add(e.Arrival) {
			p.opts.Metrics.Unreadable.Inc()
			p.opts.Log.Error("an event of the store cannot be read and is left out", "run", e.Run, "arrival", e.Arrival)
		}
		return nil
	}
	return event
}

// State says what an operator of a pipeline wants to know while it works.
type State struct {
	Refolding  int // runs with late events that their warnings and decisions do not take into account yet
	Unreadable int // events of the store that could not be read since the start, and were left out; at most 10,000 are counted
}

// State returns how the pipeline is. It is safe for concurrent use.
func (p *Pipeline) State() State {
	return State{Refolding: int(p.late.Load()), Unreadable: p.unreadable.count()}
}
