package otlp

// serving is the first of some spans that names the service of an agent.
type serving struct {
	serves *node // nil for none
	start  int64 // when it began
	stale  bool  // it is to be found anew
}

// serve notes what one of the spans tells of a service. It may be another copy than before.
func (r *serving) serve(n *node) {
	switch serves := n.span.serves(); {
	case r.serves == n:
		r.stale = r.stale || !serves || n.span.Start > r.start
		r.start = n.span.Start
	case serves && (r.serves == nil || byStart(n, r.serves) < 0):
		r.serves, r.start = n, n.span.Start
	}
}

// unserve notes that a span is none of them any more.
func (r *serving) unserve(n *node) { r.stale = r.stale || r.serves == n }

// service returns the service; "" where no span names one.
func (r *serving) service(t *Trace, of func(*node) bool) string {
	if r.stale {
		*r = serving{}
		for _, n := range t.nodes {
			if n.known && of(n) {
				r.serve(n)
			}
		}
	}
	if r.serves == nil {
		return ""
	}
	return r.serves.span.Service
}

// Service returns the service of the run's first span that tells of an agent's work and names one, else that of the trace's; "" for
// none. An MCP server is a service of its own. O(1), but O(spans) after that span has changed.
func (t *Trace) Service(run string) string {
	if r := t.runs[run]; r != nil {
		if service := r.service(t, func(n *node) bool { return n.of == run }); service != "" {
			return service
		}
	}
	return t.FirstService()
}

// FirstService returns the service of the trace's first span that tells of an agent's work and names one. It costs what Service does.
func (t *Trace) FirstService() string {
	return t.serving.service(t, func(*node) bool { return true })
}

// Serves reports whether a span of the trace that tells of an agent's work names the service. O(1).
func (t *Trace) Serves(service string) bool { return t.services[service] > 0 }
