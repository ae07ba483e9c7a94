package trace

import (
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
)

// emittedEvents are the hashes and the place of the emitted events of a span, enough to detect a change and to remove the events.
type emittedEvents struct {
	run, base  string
	start, end uint64 // hashes; 0 for none
	messages   []emittedMessage
}

// emittedMessage is the event of a message, whose id is that of the span with the suffix.
type emittedMessage struct {
	suffix string
	hash   uint64
}

// changes compares the events of the spans that may have changed with the emitted ones.
func (t *Trace) changes() []Change {
	var removed, added []Change
	for _, n := range t.work.dirty {
		n.dirty = false
		start, end := t.events(n)
		messages := t.messages(n)
		was, now := n.emitted, t.emittedBy(n, start, end, messages)
		n.emitted = now
		t.count(n, was, now)
		moved := was.run != now.run || was.base != now.base
		if was.start != 0 && (moved || now.start == 0) {
			removed = append(removed, removal(was.run, was.base+StartSuffix))
		}
		if was.end != 0 && (moved || now.end == 0) {
			removed = append(removed, removal(was.run, was.base+EndSuffix))
		}
		for _, m := range was.messages {
			if moved || now.message(m.suffix) == 0 {
				removed = append(removed, removal(was.run, was.base+m.suffix))
			}
		}
		for i, m := range now.messages {
			if before := was.message(m.suffix); moved || m.hash != before {
				added = append(added, Change{Event: messages[i], Earlier: n.earlier(!moved && before != 0)})
			}
		}
		if start != nil && (moved || now.start != was.start) {
			added = append(added, Change{Event: start, Earlier: n.earlier(!moved && was.start != 0)})
		}
		if end != nil && (moved || now.end != was.end) {
			added = append(added, Change{Event: end, Earlier: n.earlier(!moved && was.end != 0)})
		}
	}
	for _, n := range t.alone {
		for _, e := range t.aloneEvents(n) {
			added = append(added, Change{Event: e})
		}
	}
	slices.SortFunc(removed, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Event.RunID, b.Event.RunID), strings.Compare(a.Event.ID, b.Event.ID))
	})
	slices.SortFunc(added, func(a, b Change) int { return Before(a.Event, b.Event) })
	return append(removed, added...)
}

func removal(run, id string) Change {
	return Change{Event: &unloop.Event{RunID: run, ID: id}, Removed: true, Earlier: Present}
}

// earlier returns the Earlier of an event of the span, which emitted it before or not.
func (n *node) earlier(emitted bool) Earlier {
	switch {
	case emitted:
		return Present
	case n.keyed:
		return Unknown
	}
	return Absent
}

// message returns the hash of the message with the suffix, or 0 for none.
func (s *emittedEvents) message(suffix string) uint64 {
	for _, m := range s.messages {
		if m.suffix == suffix {
			return m.hash
		}
	}
	return 0
}

func (t *Trace) emittedBy(n *node, start, end *unloop.Event, messages []*unloop.Event) emittedEvents {
	if start == nil && end == nil {
		return emittedEvents{}
	}
	s := emittedEvents{base: n.base(), start: t.hashOf(start), end: t.hashOf(end)}
	if start != nil {
		s.run = start.RunID
	} else {
		s.run = end.RunID
	}
	for _, e := range messages {
		s.messages = append(s.messages, emittedMessage{e.ID[len(s.base):], t.hashOf(e)})
	}
	return s
}

// hashOf returns a hash that distinguishes the events of one span.
func (t *Trace) hashOf(e *unloop.Event) uint64 {
	if e == nil {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(t.seed)
	for _, text := range []string{string(e.Type), e.ParentEventID, e.Agent, e.Tool, e.CallID, e.Model, e.Role, e.Text} {
		_, _ = h.WriteString(text) // never fails
		_ = h.WriteByte(0)
	}
	for _, raw := range [][]byte{e.Input, e.Output, e.Error, e.Metadata} {
		_, _ = h.Write(raw)
		_ = h.WriteByte(0)
	}
	numbers := []uint64{uint64(e.Time.UnixNano()), uint64(e.Tokens), math.Float64bits(e.Cost)}
	if e.Latency != nil {
		numbers = append(numbers, math.Float64bits(*e.Latency))
	}
	if u := e.Usage; u != nil {
		numbers = append(numbers, uint64(u.Input), uint64(u.Output), uint64(u.CachedInput), uint64(u.CacheWrite), uint64(u.Reasoning))
	}
	for _, n := range numbers {
		maphash.WriteComparable(&h, n)
	}
	return max(h.Sum64(), 1)
}

func (t *Trace) aloneEvents(n *node) []*unloop.Event {
	n.inherit()
	start, end := t.events(n)
	return slices.DeleteFunc(append(t.messages(n), start, end), func(e *unloop.Event) bool { return e == nil })
}
