package sink

import (
	"slices"
	"sync"
)

// MaxWaiting is how many warnings wait for an endpoint. Of each, only the latest state is kept; beyond it, new ones are dropped
// and counted.
const MaxWaiting = 1000

// maxSent is how many warnings a queue remembers the stages of. That spares the store questions; what is forgotten is asked.
const maxSent = 10_000

// queue holds the warnings that an endpoint is to be told of, the one that has waited longest first.
type queue struct {
	mu      sync.Mutex
	waiting map[string]*pending // by warning
	order   []string            // of them
	sent    map[string]stage    // by warning
	more    chan struct{}       // has a token if there may be something to take; a second one would say the same
}

func newQueue() *queue {
	return &queue{waiting: make(map[string]*pending), sent: make(map[string]stage), more: make(chan struct{}, 1)}
}

// put adds a notice, or puts it into that of its warning. It is false if there is no place.
func (q *queue) put(n *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	id := n.warning.ID
	if q.sent[id].covers(n.stage()) {
		return true
	}
	if before := q.waiting[id]; before != nil {
		merged := *before
		merged.merge(n)
		q.waiting[id] = &merged
		return true
	}
	if len(q.waiting) >= MaxWaiting {
		return false
	}
	q.waiting[id] = n
	q.order = append(q.order, id)
	select {
	case q.more <- struct{}{}:
	default:
	}
	return true
}

// take removes the first notice and returns it, with the stage that is known to be told; nil if there is none.
func (q *queue) take() (*pending, stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return nil, stage{}
	}
	id := q.order[0]
	q.order = q.order[1:]
	n := q.waiting[id]
	delete(q.waiting, id)
	return n, q.sent[id]
}

// remember notes how far the endpoint is told of a warning; a zero stage forgets it.
func (q *queue) remember(warning string, s stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.sent) >= maxSent {
		clear(q.sent)
	}
	q.sent[warning] = s
	if s == (stage{}) {
		delete(q.sent, warning)
	}
}

// forget removes what waits about a run.
func (q *queue) forget(run int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for id, n := range q.waiting {
		if n.run.Number == run {
			delete(q.waiting, id)
		}
	}
	q.order = slices.DeleteFunc(q.order, func(id string) bool { return q.waiting[id] == nil })
}

// clear removes all that waits, and returns how many that were.
func (q *queue) clear() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.waiting)
	clear(q.waiting)
	q.order = nil
	return n
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
