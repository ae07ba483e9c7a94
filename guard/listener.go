package guard

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/policy"
)

// Notice is the message to a listener about a decision.
type Notice struct {
	Time     time.Time
	Stage    string // before, after, text, model, event, progress or allow
	Call     Call   // the call of the stages before and after; at text, only Agent is set
	Decision Decision

	// Event is "tool.result" if the guard blocked a call and returned a result instead of the tool, and "decision" otherwise.
	// Result is that result. Error is the tag of the profile, such as "loop-detected", which distinguishes the result from
	// one of the tool.
	Event  string
	Result json.RawMessage
	Error  string
}

// notice returns the notice of a decision.
func (g *Guard) notice(stage string, c Call, d Decision) Notice {
	n := Notice{Time: g.now(), Stage: stage, Call: c, Decision: d, Event: "decision"}
	if stage == "before" && d.Action == policy.Block {
		n.Event, n.Result, n.Error = "tool.result", d.Result(), d.prefix.Tag
	}
	return n
}

// Listener receives the notices of all decisions, in order. It runs on its own goroutine, so it may block. Up to 256 notices
// wait for it, and further ones are dropped. A panic is recovered, and its notice counts as dropped: see
// Stats.DroppedNotices.
type Listener func(Notice)

// backlog is the number of notices that wait for a slow listener.
const backlog = 256

// listeners passes notices to each listener in order, without blocking the agent.
type listeners struct {
	queues  []chan Notice
	done    sync.WaitGroup
	dropped atomic.Int64

	mu     sync.RWMutex // guards closed, so that nothing is sent to a closed queue
	closed bool
}

func newListeners(all []Listener) *listeners {
	l := &listeners{}
	for _, listener := range all {
		queue := make(chan Notice, backlog)
		l.queues = append(l.queues, queue)
		l.done.Go(func() {
			for n := range queue {
				l.call(listener, n)
			}
		})
	}
	return l
}

func (l *listeners) call(listener Listener, n Notice) {
	defer func() {
		if recover() != nil {
			l.dropped.Add(1)
		}
	}()
	listener(n)
}

func (l *listeners) send(n Notice) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.closed {
		return
	}
	for _, queue := range l.queues {
		select {
		case queue <- n:
		default:
			l.dropped.Add(1)
		}
	}
}

func (l *listeners) close() {
	l.mu.Lock()
	if !l.closed {
		l.closed = true
		for _, queue := range l.queues {
			close(queue)
		}
	}
	l.mu.Unlock()
	l.done.Wait()
}

// Close ends the questions for second opinions, waits until the listeners have received all notices, and ends them. Decisions
// after Close reach no listener and ask no questions. A listener must not call Close, because it would wait for itself.
func (g *Guard) Close() {
	g.mu.Lock()
	g.closed = true
	g.resume()
	stop := g.stop
	g.mu.Unlock()
	if stop != nil {
		stop()
	}
	g.second.close()
	g.listeners.close()
}
