package proxy

import (
	"bytes"
	"crypto/rand"
	"time"
)

// stream is a complete answer as server-sent events.
type stream struct{ b bytes.Buffer }

// data adds an event without a name.
func (s *stream) data(v any) {
	s.b.WriteString("data: ")
	s.b.Write(encode(v))
	s.b.WriteString("\n\n")
}

// event adds an event with a name.
func (s *stream) event(name string, v any) {
	s.b.WriteString("event: " + name + "\n")
	s.data(v)
}

// raw adds bytes as they are.
func (s *stream) raw(text string) { s.b.WriteString(text) }

func (s *stream) answer() answer {
	return answer{contentType: "text/event-stream; charset=utf-8", body: s.b.Bytes()}
}

// newID returns a random id with a prefix, as the APIs make them.
func newID(prefix string) string { return prefix + "unloop" + rand.Text() }

// now returns the time as the APIs write it, in seconds.
func now() int64 { return time.Now().Unix() }
