package trace

import (
	"cmp"
	"iter"
	"maps"
)

// serving is the first of some spans that names the service of an agent.
type serving struct {
	serves *node // nil for none
	start  int64 // start time of serves when it was recorded
	name   string
	stale  bool // serves must be searched again
}

// serve adds a span and reports whether the service may have changed. The span may be another copy of a known one.
func (r *serving) serve(n *node) bool {
	serves := n.span.serves()
	if r.serves == n {
		r.stale = r.stale || !serves || n.span.Start > r.start
	} else if !serves || r.serves != nil && !r.Before(n) {
		return false
	}
	changed := r.stale || n.span.Service != r.name
	r.serves, r.start, r.name = n, n.span.Start, n.span.Service
	return changed
}

// Before reports whether a span is before the recorded first one, which may have another copy by now.
func (r *serving) Before(n *node) bool {
	return cmp.Or(cmp.Compare(n.span.Start, r.start), cmp.Compare(n.span.ID, r.serves.span.ID)) < 0
}

// unserve removes a span and reports whether the service may have changed.
func (r *serving) unserve(n *node) bool {
	r.stale = r.stale || r.serves == n
	return r.stale
}

// reserve marks a run whose service may have changed.
func (t *Trace) reserve(run string, changed bool) {
	if !changed {
		return
	}
	if t.served == nil {
		t.served = make(map[string]struct{})
	}
	t.served[run] = struct{}{}
}

// service returns the service, or "" if no span names one.
func (r *serving) service(t *Trace, of func(*node) bool) string {
	if r.stale {
		*r = serving{}
		for _, n := range t.nodes {
			if n.known && of(n) {
				r.serve(n)
			}
		}
	}
	return r.name
}

// Service returns the service of the run: that of its first span that is part of an agent's work and names one, else that of the
// trace, else "". An MCP server is a different service. O(1), but O(spans) after that span has changed.
func (t *Trace) Service(run string) string {
	if r := t.runs[run]; r != nil {
		if service := r.first.service(t, func(n *node) bool { return n.of == run }); service != "" {
			return service
		}
	}
	return t.FirstService()
}

// FirstService returns the service of the first span of the trace that is part of an agent's work and names one. It costs as much
// as Service.
func (t *Trace) FirstService() string {
	return t.first.service(t, func(*node) bool { return true })
}

// Serves reports whether a span that is part of an agent's work names the service. O(1).
func (t *Trace) Serves(service string) bool { return t.services[service] > 0 }

// Served returns the runs whose service the latest Add may have changed.
func (t *Trace) Served() iter.Seq[string] { return maps.Keys(t.served) }

// ServicesOf returns the services, by run, of the runs that have copies of the spans, before the spans are added. O(spans).
func (t *Trace) ServicesOf(spans []Span) map[string]string {
	services := make(map[string]string)
	for i := range spans {
		if n := t.nodes[spans[i].ID]; n != nil && n.known {
			run := t.runOf(n)
			services[run] = t.Service(run)
		}
	}
	return services
}
