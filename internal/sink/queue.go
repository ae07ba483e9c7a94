package sink

import (
	"slices"
	"sync"
)

// MaxWaiting is the maximum number of waiting warnings of a target. Only the latest state of each is kept. Further warnings are
// dropped and counted.
const MaxWaiting = 1000

// maxSent is the maximum number of warnings whose stages a queue remembers. For other warnings, the claims in the store decide.
const maxSent = 10_000

// queue holds the warnings to send to a target, the longest waiting first.
type queue struct {
	mu      sync.Mutex
	waiting map[string]*pending // by warning
	order   []string            // the keys of waiting, the longest waiting first
	sent    map[string]stage    // by warning
	more    chan struct{}       // has a token if there may be a warning to take; a second token is not needed
}

func newQueue() *queue {
	return &queue{waiting: make(map[string]*pending), sent: make(map[string]stage), more: make(chan struct{}, 1)}
}

// put adds a warning or merges it into the waiting one. It returns false if the queue is full.
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
	q.wake()
	return true
}

// wake makes a worker look for a warning.
func (q *queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// take removes and returns the first warning and its known stage. It returns nil if there is none.
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

// sentOf returns the known stage of a warning.
func (q *queue) sentOf(warning string) stage {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sent[warning]
}

// remember stores the stage of a warning. A zero stage removes it.
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

// forget removes the waiting warnings of a run.
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

// clear removes all waiting warnings and returns their number.
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
