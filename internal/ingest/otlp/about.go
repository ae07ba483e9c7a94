package otlp

import "strings"

// IsCanonical reports whether a copy of a span is the one that stands, of all that were added.
func (t *Trace) IsCanonical(s *Span) bool {
	n := t.nodes[s.ID]
	return n == nil || !n.known || compareCopies(s, &n.span) == 0
}

// serves reports whether the span tells which service an agent is of. An MCP server is a service of its own.
func (s *Span) serves() bool { return s.Kind != Other && !s.MCP && isNamed(s.Service) }

// isNamed reports whether somebody gave a service its name: SDKs call one without a name unknown_service.
func isNamed(service string) bool {
	return service != "" && !strings.HasPrefix(service, "unknown_service")
}
