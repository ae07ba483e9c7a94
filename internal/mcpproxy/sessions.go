package mcpproxy

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	lru "github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxSessions is the greatest number of sessions that are kept.
const maxSessions = 10_000

// sessions keeps the latest sessions of an HTTP proxy within a limit of memory. It is safe for concurrent use.
type sessions struct {
	make  func(run string) *Session
	limit int // bytes

	mu    sync.Mutex
	kept  *lru.LRU[string, *keptSession]
	bytes int
}

// keptSession is a session and its memory at its latest use.
type keptSession struct {
	session *Session
	bytes   int
}

func newSessions(limit int, newSession func(run string) *Session) *sessions {
	s := &sessions{make: newSession, limit: limit}
	kept, err := lru.NewLRU(maxSessions, func(_ string, k *keptSession) {
		s.bytes -= k.bytes
		k.session.guard.Close() // it stops listening for orders
	})
	if err != nil {
		panic("mcpproxy: " + err.Error()) // the size is positive
	}
	s.kept = kept
	return s
}

// get returns the session with the key. It begins one if there is none.
func (s *sessions) get(key string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok := s.kept.Get(key)
	if !ok {
		k = &keptSession{session: s.make("mcp-" + key + "-" + rand.Text()[:8])}
		s.kept.Add(key, k)
	}
	s.count(k)
	return k.session
}

// measure counts the memory of a session again, after its use.
func (s *sessions) measure(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k, ok := s.kept.Peek(key); ok {
		s.count(k)
	}
}

// count counts the memory of a session, and forgets the least recently used ones as long as all take too much. The caller holds the lock.
func (s *sessions) count(k *keptSession) {
	size := k.session.size()
	s.bytes += size - k.bytes
	k.bytes = size
	for s.bytes > s.limit && s.kept.Len() > 1 {
		s.kept.RemoveOldest()
	}
}

// remove forgets a session that ended.
func (s *sessions) remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Remove(key)
}

// sessionHeader names a session of the revisions up to 2025-11-25.
const sessionHeader = "Mcp-Session-Id"

// keyOf returns the key of the session that a request belongs to. It is a hash, because an id of a session is a credential.
func keyOf(r *http.Request, messages []jsonrpc.Message) string {
	if id := r.Header.Get(sessionHeader); id != "" {
		return hashed("session", id)
	}
	for _, m := range messages {
		if trace := traceOf(m); trace != "" {
			return hashed("trace", trace)
		}
	}
	if token := r.Header.Get("Authorization"); token != "" {
		return hashed("token", token)
	}
	return hashed("connection", r.RemoteAddr)
}

func hashed(kind, text string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + text))
	return hex.EncodeToString(sum[:8])
}

// traceOf returns the trace's id in the traceparent of a request's _meta, or "".
func traceOf(m jsonrpc.Message) string {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return ""
	}
	var p struct {
		Meta map[string]jsontext.Value `json:"_meta"`
	}
	if jsonv2.Unmarshal(r.Params, &p, lenient) != nil {
		return ""
	}
	var parent string
	if jsonv2.Unmarshal(p.Meta["traceparent"], &parent, lenient) != nil {
		return ""
	}
	fields := strings.Split(parent, "-")
	if len(fields) < 4 || len(fields[1]) != 32 {
		return ""
	}
	return fields[1]
}
