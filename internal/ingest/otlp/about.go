package otlp

import "strings"

// Stands reports whether a copy of a span is the one that stands, of all that were added.
func (t *Trace) Stands(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// About says what the trace is called and which service sent it, as far as these spans of it tell: by their root, or else by
// nothing.
func About(spans []Span) (name, service string) {
	for i := range spans {
		s := &spans[i]
		if s.ParentID != "" {
			continue
		}
		name, service = s.Title, s.Service
		if s.Kind == Agent && s.Agent != "" {
			name = s.Agent
		}
		if strings.HasPrefix(service, "unknown_service") {
			service = ""
		}
	}
	return name, service
}
