package otlp

import "strings"

// Stands reports whether a copy of a span is the one that stands, of all that were added.
func (t *Trace) Stands(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// Service says which service an agent is of whose work spans tell; "" where none does. An MCP server is a service of its own.
func Service(spans []Span) string {
	for i := range spans {
		s := &spans[i]
		if s.Kind != Other && !s.MCP && isNamed(s.Service) {
			return s.Service
		}
	}
	return ""
}

// isNamed reports whether somebody gave a service its name: SDKs call one without a name unknown_service.
func isNamed(service string) bool {
	return service != "" && !strings.HasPrefix(service, "unknown_service")
}
