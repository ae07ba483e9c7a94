package otlp

import "strings"

// Stands reports whether a copy of a span is the one that stands, of all that were added.
func (t *Trace) Stands(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// Service says which service sent spans, as far as they tell: the agent's rather than that of a tool.
func Service(spans []Span) (service string) {
	for i := range spans {
		s := &spans[i]
		if s.Service == "" || strings.HasPrefix(s.Service, "unknown_service") {
			continue
		}
		if s.Kind == Agent || s.Kind == Model {
			return s.Service
		}
		if service == "" {
			service = s.Service
		}
	}
	return service
}
