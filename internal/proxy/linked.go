package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxLinkBytes is the greatest size of the items that are kept of one response.
const maxLinkBytes = 1 << 20

// link is a response whose history is on the API's side: a request continues it by its id.
type link struct {
	kept  string           // the key of the conversation
	run   string           // of the conversation at that time
	items []jsontext.Value // of the response

	halted *haltedRequest // nil if the API gave the response
}

// haltedRequest is a request that the proxy answered. The API has not seen its items, and does not know the response.
type haltedRequest struct {
	previous string // the id of the response that it continues; "" for none
	items    []jsontext.Value
}

// values returns the items, and nil of nil.
func (h *haltedRequest) values() []jsontext.Value {
	if h == nil {
		return nil
	}
	return h.items
}

// size returns the bytes of the items of the link.
func (l *link) size() (n int) {
	for _, values := range [][]jsontext.Value{l.items, l.halted.values()} {
		for _, value := range values {
			n += len(value)
		}
	}
	return n
}

// answered keeps the response with the id as the latest one of a conversation.
func (s *conversations) answered(v verdict, id string, items []jsontext.Value) {
	s.keep(v, id, link{items: items})
}

// halted keeps a response that the proxy gave in the API's place, as the latest one of a conversation. The items of its request are sent
// with the request that continues it.
func (s *conversations) halted(v verdict, id string) {
	r := v.request
	if id == "" || r.members.Unstored { // each request of the client has the whole history
		return
	}
	if r.skipped > 0 {
		var err error
		if r, err = parse(r.body, "input"); err != nil {
			return
		}
	}
	h := &haltedRequest{previous: r.members.Previous}
	for k := range r.items {
		h.items = append(h.items, r.items[k].value)
	}
	s.keep(v, id, link{halted: h})
}

// keep keeps the link of a response as the latest one of a conversation. It forgets the oldest ones as long as all take too much memory.
func (s *conversations) keep(v verdict, id string, l link) {
	size := l.size()
	if id == "" || size > maxLinkBytes {
		return
	}
	l.kept, l.run = v.kept, v.run
	for _, values := range [][]jsontext.Value{l.items, l.halted.values()} {
		for k := range values {
			values[k] = values[k].Clone()
		}
	}
	s.mu.Lock()
	e, ok := s.kept.Peek(v.kept)
	if ok {
		s.links.Remove(id)
		s.links.Add(id, l)
		for s.linkBytes += size; s.linkBytes > s.limit && s.links.Len() > 1; {
			s.links.RemoveOldest()
		}
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

// after returns a request with the items of the halted one before its own. It continues the same response as the halted one.
func (r *request) after(h *haltedRequest) (*request, error) {
	var body map[string]jsontext.Value
	if err := jsonv2.Unmarshal(r.body, &body, lenient); err != nil {
		return nil, err
	}
	items := slices.Clone(h.items)
	for k := range r.items {
		items = append(items, r.items[k].value)
	}
	list, err := jsonv2.Marshal(items, lenient)
	if err != nil {
		return nil, err
	}
	body["input"] = list
	delete(body, "previous_response_id")
	if h.previous != "" {
		body["previous_response_id"] = encode(h.previous)
	}
	data, err := jsonv2.Marshal(body, lenient, jsonv2.Deterministic(true))
	if err != nil {
		return nil, err
	}
	return parse(data, "input")
}

// previous returns the id of the response that a request continues. In a conversation at the API's side that is its latest response,
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

// judgeLinked judges a request that continues a response. It contains only the items behind that response. If the response is
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
	if l.halted != nil && err == nil {
		v.resent = true
		v.request, err = r.after(l.halted)
	}
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
	var items []item
	if c.session == nil || c.run != l.run || c.latest != id {
		c.begin(s) // the history forks, or is not known
	} else {
		for _, value := range l.items {
			items = append(items, item{value: value})
		}
	}
	c.previous, c.previousItems, c.latest, c.marks = id, chain, "", nil
	c.obeyOrders()
	return c.foldItems(a, append(items, r.items...))
}
