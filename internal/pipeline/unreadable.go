package pipeline

import (
	"sync"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
)

// maxUnreadable bounds the unreadable events that are remembered.
const maxUnreadable = 10_000

// unreadable remembers the stored events that cannot be decoded. A run can be read several times. Each event counts once.
type unreadable struct {
	mu       sync.Mutex
	arrivals map[int64]struct{}
}

// add adds an event and reports whether it is new.
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

// decode decodes an event of the store. It returns nil for an unreadable event, which is skipped, so that it blocks neither its
// run nor the other events of a commit.
func (p *Pipeline) decode(e *store.Event) *unloop.Event {
	event, err := store.Decode(e.Body)
	if err != nil {
		if p.unreadable.add(e.Arrival) {
			p.opts.Metrics.Unreadable.Inc()
			p.opts.Log.Error("a stored event cannot be decoded and is skipped", "run", e.Run, "arrival", e.Arrival)
		}
		return nil
	}
	return event
}
