package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/profile"
)

// maxConversations is the greatest number of conversations that are kept.
const maxConversations = 4096

// conversations keeps the latest conversations within a limit of memory. A conversation that was forgotten is folded from
// its beginning with its next request. It is safe for concurrent use.
type conversations struct {
	profile  atomic.Pointer[profile.Profile] // of new runs
	record   func(*unloop.Event)
	controls func(run string, take func(*unloop.Event)) (stop func())
	mark     json.RawMessage // metadata of the first event of a run, which say that the run is guarded
	limit    int             // bytes

	mu        sync.Mutex
	linkBytes int
	kept      *lru.LRU[string, *entry]
	bytes     int
	links     *lru.LRU[string, link]   // by the id of a response; they take at most limit bytes, too
	latest    *lru.LRU[string, string] // the id of the latest response, by the id of a conversation at the API's side
	detached  *lru.LRU[string, int]    // how many conversations moved from a key to one of their own
}

type entry struct {
	conversation *conversation
	bytes        int
}

func newConversations(o Options) *conversations {
	shadow := o.Mode == Observe || o.Profile.Shadow()
	c := &conversations{record: o.Record, controls: o.Controls, limit: o.MaxMemory}
	c.profile.Store(o.Profile)
	c.mark = unloop.GuardReport{By: guardName, Shadow: shadow}.Metadata()
	c.kept = newLRU(func(_ string, e *entry) { c.bytes -= e.bytes })
	c.links = newLRU(func(_ string, l link) { c.linkBytes -= l.size() })
	c.latest, c.detached = newLRU[string](nil), newLRU[int](nil)
	return c
}

// newLRU returns a list of as many values as there are conversations.
func newLRU[V any](evicted func(string, V)) *lru.LRU[string, V] {
	l, err := lru.NewLRU(maxConversations, evicted)
	if err != nil {
		panic("proxy: " + err.Error()) // the size is positive
	}
	return l
}

// verdict is the state of a run after the history of a request.
type verdict struct {
	request  *request
	resent   bool // the request contains items of halted ones before its own
	run      string
	kept     string // the key of the conversation
	spenders spenders
	turn     turn
	sequence int64 // of the run's latest event

	paused <-chan struct{} // closed at the end of the pause; nil if no person has paused the run
	nudge  string          // of a person; "" for none
}

// errPanic is the error of a request at which a detector panicked.
var errPanic = errors.New("judging failed")

// judge folds the history of a request and returns the verdict. Session is the client's name of the conversation, or "". A
// panic of a detector is an error.
func (s *conversations) judge(a api, body []byte, session string) (v verdict, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("%w: %v", errPanic, cause)
		}
	}()
	if session == "" {
		session = "proxy"
	}
	if _, ok := a.(responses); ok && (bytes.Contains(body, []byte(`"previous_response_id"`)) || bytes.Contains(body, []byte(`"conversation"`))) {
		if r, err := parse(body, a.list()); err == nil && s.previous(r) != "" {
			return s.judgeLinked(a, r, session)
		}
	}
	first, err := firstItems(body, a.list())
	if err != nil {
		return verdict{}, err
	}
	key := fmt.Sprintf("%s-%08x", session, uint32(first))
	c := s.take(key)
	v, size, err := c.judge(a, body, s)
	v.kept = key
	s.put(key, c, size)
	return v, err
}

// take returns the conversation with the key. It begins one if there is none.
func (s *conversations) take(key string) *conversation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.kept.Get(key); ok {
		return e.conversation
	}
	if n, ok := s.detached.Get(key); ok {
		return &conversation{key: key + "~" + strconv.Itoa(n)}
	}
	return &conversation{key: key}
}

// put keeps the conversation, and forgets the least recently used ones as long as all take too much memory.
func (s *conversations) put(key string, c *conversation, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Remove(key)
	if s.kept.Len() == maxConversations {
		s.evict()
	}
	s.kept.Add(key, &entry{c, size})
	for s.bytes += size; s.bytes > s.limit && s.kept.Len() > 1; {
		s.evict()
	}
}

// evict forgets the least recently used conversation. The caller holds the lock.
func (s *conversations) evict() {
	if _, oldest, ok := s.kept.RemoveOldest(); ok {
		oldest.conversation.orders.Load().evicted()
	}
}

// judge judges a request. A history that does not begin with the folded one, such as one that was compacted or edited, begins
// a run.
func (c *conversation) judge(a api, body []byte, s *conversations) (v verdict, size int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listenAgain()
	r := c.known(body, a.list())
	if r == nil {
		if r, err = parse(body, a.list()); err != nil {
			return verdict{}, c.size(), err
		}
		if c.session == nil || !c.contains(r) {
			c.begin(s)
		}
	}
	err = c.fold(a, r)
	return c.verdict(r), c.size(), err
}

// size estimates the memory of a conversation in bytes.
func (c *conversation) size() int {
	const fixed = 4 << 10
	if c.session == nil {
		return fixed
	}
	return fixed + c.session.Size()
}
