package mcpproxy

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/unloop-ai/unloop/guard"
)

// The greatest number of calls whose results are awaited, and the greatest size of their arguments in bytes, except for a single call. A
// call over them passes without being judged.
const (
	maxOpen      = 65536
	maxOpenBytes = 64 << 20
)

// requests are requests that the server has not answered. It is safe for concurrent use.
type requests struct {
	mu    sync.Mutex
	calls map[any]openCall // by request id
	bytes int              // of calls
	lists map[any]bool     // requests for the list of tools, by request id

	waiting map[any]wait // calls that wait for the end of a pause, by request id
}

func newRequests() *requests {
	return &requests{calls: make(map[any]openCall), lists: make(map[any]bool), waiting: make(map[any]wait)}
}

// openCall is a call that runs.
type openCall struct {
	call    guard.Call
	begun   time.Time
	before  guard.Decision // about the call, before it ran
	adopted bool           // a client issued it again after its connection broke
}

// callSize is the approximate memory of an open call without its arguments, in bytes.
const callSize = 512

// size returns the approximate memory of the call in bytes.
func (c *openCall) size() int {
	return callSize + len(c.call.ID) + len(c.call.Tool) + len(c.call.Args)
}

// size returns the approximate memory of the session in bytes.
func (s *Session) size() int {
	s.mu.Lock()
	size := s.lostBytes + len(s.owed)
	s.mu.Unlock()
	s.open.mu.Lock()
	defer s.open.mu.Unlock()
	return s.guard.Size() + size + s.open.bytes
}

// takeCall removes a call and returns it.
func (q *requests) takeCall(id any) (openCall, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c, ok := q.calls[id]
	if ok {
		q.bytes -= c.size()
		delete(q.calls, id)
	}
	return c, ok
}

// add keeps a call. It reports false if there are too many, or if the call is kept: a client that issues a request again with
// the same id makes no further call.
func (q *requests) add(id any, c openCall) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, again := q.calls[id]
	if again || len(q.calls) >= maxOpen || q.bytes > 0 && q.bytes+c.size() > maxOpenBytes {
		return false
	}
	q.calls[id] = c
	q.bytes += c.size()
	return true
}

// set replaces a kept call with one of the same size. A call that was taken meanwhile stays so.
func (q *requests) set(id any, c openCall) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.calls[id]; ok {
		q.calls[id] = c
	}
}

// lose records that the connection to the server broke before it answered a call. A client may issue the call again, once,
// which is no further call.
func (s *Session) lose(ctx context.Context, open *requests, id any) {
	c, ok := open.takeCall(id)
	if !ok {
		return
	}
	s.mu.Lock()
	key := keyOfCall(c.call.Tool, c.call.Args)
	_, again := s.lost[key]
	keep := !c.adopted && !again && len(s.lost) < maxLost && s.lostBytes+c.size() <= maxLostBytes
	if keep {
		c.adopted = true
		s.lost[key] = c
		s.lostBytes += c.size()
	}
	s.mu.Unlock()
	if !keep {
		s.guard.After(ctx, c.call, guard.Outcome{Err: errors.New("the connection to the server broke"), Latency: time.Since(c.begun)})
	}
}

// The greatest number of calls that are known again after their connection broke, and their size in bytes.
const (
	maxLost      = 256
	maxLostBytes = 4 << 20
)

// takeLost returns a call whose connection broke, with the same tool and arguments.
func (s *Session) takeLost(tool string, args []byte) (openCall, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lost) == 0 {
		return openCall{}, false
	}
	key := keyOfCall(tool, args)
	c, ok := s.lost[key]
	if ok {
		s.lostBytes -= c.size()
		delete(s.lost, key)
	}
	return c, ok
}

// lostKey is a hash of the tool and the arguments of a call.
type lostKey [sha256.Size]byte

func keyOfCall(tool string, args []byte) lostKey {
	h := sha256.New()
	_, _ = io.WriteString(h, tool+"\x00") // never fails
	_, _ = h.Write(args)                  // never fails
	return lostKey(h.Sum(nil))
}
