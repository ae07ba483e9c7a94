package trace

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/unloop-ai/unloop"
)

// Bounds of what is known together.
const (
	// maxSpans is how many spans of a trace are looked at together. One beyond them stands alone: it has no parent and is
	// none, and is not remembered.
	maxSpans = 1 << 17

	// maxCall is how many spans may tell of one call. Where more have one call id, none of them stands for another, and a
	// span takes nothing from the spans within it where there are more.
	maxCall = 64

	// maxNest is how many spans of one call may be in one another. A deeper one stands alone.
	maxNest = 16
)

// Trace is what is known of one trace, and which events that gives. The events that stand after some Adds are a
// function of the set of their spans, up to maxSpans, in whatever order and pieces these came: of two different copies
// of a span the one that ended later stands, then the one that tells more.
//
// A Trace is not safe for concurrent use.
type Trace struct {
	id    string
	nodes map[string]*node // by span id: the known, and those that are only named as parents
	known int
	size  int
	seed  maphash.Seed

	calls    map[string]*group             // by call id
	aliases  map[string]*alias             // by an agent's name
	names    map[string]string             // of agents, by their plain form
	handoffs map[string]map[*node]struct{} // by the plain form of who is handed over to
	told     int                           // spans that tell of an agent's work
	failed   map[*node]struct{}            // failed roots that tell of nothing else
	named    *node                         // the first span that names a run
	runs     map[string]*inRun             // that spans belong to
	services map[string]int                // of the agents: how many spans name one

	first serving // of all spans that names a service
	work
}

// Change is an event that is new or different, whole, or one that must be taken out of its run, of which RunID and ID
// are told. An event that moves to another run is both. Events are the caller's.
type Change struct {
	Event   *unloop.Event
	Removed bool
}

// New returns a trace of which nothing is known.
func New() *Trace {
	return &Trace{
		seed:     maphash.MakeSeed(),
		calls:    make(map[string]*group),
		aliases:  make(map[string]*alias),
		names:    make(map[string]string),
		handoffs: make(map[string]map[*node]struct{}),
		failed:   make(map[*node]struct{}),
		runs:     make(map[string]*inRun),
		services: make(map[string]int),
		size:     traceSize,
	}
}

// Add takes in spans of the trace and returns what changes: first the removals, then the events in their order. A span of
// another trace is left out, as one that is known already. A span costs the way to its root, whatever the size of the
// trace, and O(1) for each span whose events change; one Add costs at most a walk over the trace.
func (t *Trace) Add(spans []Span) []Change {
	t.begin()
	if len(t.nodes) == 0 {
		t.nodes = make(map[string]*node, len(spans))
	}
	for i := range spans {
		if s := &spans[i]; t.takes(s) {
			t.take(s)
		}
	}
	t.resolve()
	return t.changes()
}

// Size estimates the bytes in memory.
func (t *Trace) Size() int { return t.size }

func (t *Trace) takes(s *Span) bool {
	if len(t.nodes) == 0 {
		t.id = s.TraceID
	}
	return s.TraceID == t.id && s.ID != ""
}

func (t *Trace) take(s *Span) {
	n := t.nodes[s.ID]
	switch {
	case n != nil && n.known:
		t.replace(n, s)
		return
	case t.known == maxSpans:
		t.alone = append(t.alone, &node{span: *s, known: true})
		return
	case n == nil:
		n = t.place(s.ID)
	}
	t.known++
	n.known, n.span = true, *s
	t.register(n)
	t.link(n)
	n.fresh = true
	t.markUnresolved(n)
}

// place makes room for a span that is not known yet.
func (t *Trace) place(id string) *node {
	n := new(node)
	t.nodes[id] = n
	t.size += nodeSize
	return n
}

// replace puts another copy of a span in the place of the one that is known, if it is the better one.
func (t *Trace) replace(n *node, s *Span) {
	if compareCopies(s, &n.span) <= 0 {
		return
	}
	t.unregister(n)
	moved := n.span.ParentID != s.ParentID
	index := min(n.span.Index, s.Index)
	n.span = *s
	n.span.Index = index
	t.register(n)
	if moved {
		t.moved = true
		t.unlink(n)
		t.link(n)
	}
	n.fresh, n.deep = true, true
	t.markUnresolved(n)
}

// compareCopies orders the copies of a span, the better one last: by the end, by how much they tell, and then by all that
// they tell.
func compareCopies(a, b *Span) int {
	return cmp.Or(
		cmp.Compare(a.End, b.End), cmp.Compare(a.bytes(), b.bytes()), cmp.Compare(a.Start, b.Start),
		cmp.Compare(truth(a.Failed), truth(b.Failed)), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(truth(a.MCP), truth(b.MCP)), cmp.Compare(truth(a.ByCall), truth(b.ByCall)),
		cmp.Compare(a.Tokens, b.Tokens), cmp.Compare(a.Cost, b.Cost), a.Usage.compare(b.Usage),
		cmp.Compare(truth(b.Deleted), truth(a.Deleted)),
		slices.Compare(a.texts(), b.texts()),
	)
}

func (u Usage) compare(v Usage) int {
	return cmp.Or(cmp.Compare(u.Input, v.Input), cmp.Compare(u.Output, v.Output),
		cmp.Compare(u.CachedInput, v.CachedInput), cmp.Compare(u.CacheWrite, v.CacheWrite), cmp.Compare(u.Reasoning, v.Reasoning))
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Span) texts() []string {
	return []string{s.ParentID, s.Title, s.Service, s.Run, s.Graph, s.Reason, s.Agent, s.Tool, s.CallID, s.Input, s.Output, s.Model}
}

// bytes is how long the span's own texts are together.
func (s *Span) bytes() int {
	return len(s.ParentID) + len(s.Title) + len(s.Service) + len(s.Run) + len(s.Graph) + len(s.Reason) + len(s.Agent) + len(s.Tool) +
		len(s.CallID) + len(s.Input) + len(s.Output) + len(s.Model)
}
