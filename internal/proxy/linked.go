package proxy

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop/internal/ingest"
)

// maxLinkBytes is the greatest size of the items that are kept of one response.
const maxLinkBytes = 1 << 20

// link is a response whose history is on the API's side: a request goes on with it by its id.
type link struct {
	kept  string           // the key of the conversation
	run   string           // of the conversation at that time
	items []jsontext.Value // of the response
}

// answered keeps the response with the id as the latest one of a conversation.
func (s *conversations) answered(v verdict, id string, items []jsontext.Value) {
	size := 0
	for i := range items {
		size += len(items[i])
		items[i] = items[i].Clone()
	}
	if id == "" || size > maxLinkBytes {
		return
	}
	s.mu.Lock()
	e, ok := s.kept.Peek(v.kept)
	if ok {
		s.links.Add(id, link{v.kept, v.run, items})
		if of := v.request.members.Conversation; of != "" {
			s.latest.Add(of, id)
		}
	}
	s.mu.Unlock()
	if !ok {
		return
	}
	e.conversation.mu.Lock()
	defer e.conversation.mu.Unlock()
	e.conversation.latest = id
}

// previous returns the id of the response that a request goes on with. In a conversation at the API's side that is its latest response,
// or, before the first one, the conversation itself. It returns "" if the whole history is in the request.
func (s *conversations) previous(r *request) string {
	of := r.members.Conversation
	if of == "" || r.members.Previous != "" {
		return r.members.Previous
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	latest, _ := s.latest.Get(of)
	return cmp.Or(latest, of)
}

// linkedPrefix begins the keys of conversations whose history is on the API's side.
const linkedPrefix = "linked "

// find returns the link of a response, and its conversation under a key of its own: another one may begin with the same items.
func (s *conversations) find(id string) (link, *conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.links.Get(id)
	if !ok {
		return l, nil
	}
	key, own := l.kept, linkedPrefix+l.run
	e, ok := s.kept.Get(key)
	if ok && !strings.HasPrefix(key, linkedPrefix) {
		s.kept.Remove(key)
		n, _ := s.detached.Get(key)
		s.detached.Add(key, n+1)
		s.kept.Add(own, e)
		s.bytes += e.bytes
		key = own
	} else if !ok {
		key = own
		e, ok = s.kept.Get(key)
	}
	if !ok {
		return l, nil
	}
	l.kept = key
	return l, e.conversation
}

// judgeLinked judges a request that goes on with a response. It contains only the items behind that response. If the response is
// not known, the items are a history of their own.
func (s *conversations) judgeLinked(a api, r *request, session string) (verdict, error) {
	id := s.previous(r)
	l, c := s.find(id)
	if c == nil {
		c = &conversation{key: fmt.Sprintf("%s-%s", session, id)}
		l = link{kept: linkedPrefix + c.key}
	}
	c.mu.Lock()
	err := c.goOn(a, r, id, l, s)
	v, size := c.verdict(r), c.size()
	v.kept = l.kept
	c.mu.Unlock()
	s.put(l.kept, c, size)
	return v, err
}

// goOn folds the response of the link, which has the id, and the items of the request. The conversation is locked.
func (c *conversation) goOn(a api, r *request, id string, l link, s *conversations) error {
	chain := uint64(0)
	for n := range r.items {
		chain = chained(chain, r.items[n].hash())
	}
	if c.session != nil && c.previous == id && c.previousItems == chain {
		return nil // the same request again
	}
	items := l.items
	if c.session == nil || c.run != l.run || c.latest != id {
		c.begin(s) // the history forks, or is not known
		items = nil
	}
	c.previous, c.previousItems, c.latest, c.marks = id, chain, "", nil
	c.obeyOrders()
	for _, value := range items {
		if err := c.tell(a, &item{value: value}); err != nil {
			return err
		}
	}
	for n := range r.items {
		if err := c.tell(a, &r.items[n]); err != nil {
			return err
		}
	}
	return nil
}

// tell folds one item.
func (c *conversation) tell(a api, i *item) error {
	if err := a.tell(c.builder, ingest.Location{Index: c.items}, i.value); err != nil {
		return err
	}
	c.items++
	c.chain = chained(c.chain, i.hash())
	return nil
}
