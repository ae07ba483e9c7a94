package guard

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/policy"
)

// Notice is what listeners are told of a decision.
type Notice struct {
	Time     time.Time
	Stage    string // before, after, text, progress or allow
	Call     Call
	Decision Decision

	// Event is "tool.result" where the guard answered a call in place of its tool, and "decision" otherwise. Result is that
	// answer, and Error what tells it from a real one: "loop-detected", say.
	Event  string
	Result json.RawMessage
	Error  string
}

// notice makes the notice of a decision.
func (g *Guard) notice(moment string, c Call, d Decision) Notice {
	n := Notice{Time: g.now(), Stage: moment, Call: c, Decision: d, Event: "decision"}
	if moment == "before" && d.Action == policy.Block {
		n.Event, n.Result, n.Error = "tool.result", d.Result(), d.prefix.Tag
	}
	return n
}

// Listener is told of every decision. It runs on a goroutine of its own, so it may take its time; its panics are caught.
type Listener func(Notice)

// backlog is how many notices wait for a slow listener. Further ones are dropped, and counted in Stats.DroppedNotices.
const backlog = 256

// listeners tell each listener in order, without making the agent wait.
type listeners struct {
	queues  []chan Notice
	done    sync.WaitGroup
	dropped atomic.Int64

	mu     sync.RWMutex // closed is set under it, so that nothing is sent to a closed queue
	closed bool
}

func newListeners(hear []Listener) *listeners {
	l := &listeners{}
	for _, listener := range hear {
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

func (l *listeners) tell(n Notice) {
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

func (l *listeners) lost() int64 { return l.dropped.Load() }

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

// Close ends the guard's listeners when they have heard what was told, and waits for them. The guard goes on without them.
func (g *Guard) Close() { g.listeners.close() }
