package trace

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/unloop-ai/unloop"
)

// Limits of a trace.
const (
	// maxSpans is the maximum number of related spans of a trace. A further span is not remembered and has no relation to others.
	maxSpans = 1 << 17

	// maxCall is the maximum number of spans of one call. If more spans have one call id, none represents another, and no span
	// takes facts from spans inside it.
	maxCall = 64

	// maxNest is the maximum nesting of spans of one call. A deeper one represents itself.
	maxNest = 16
)

// Trace is the known spans of one trace and their events. After any sequence of Adds, the events are a function of the set of
// spans, up to maxSpans, in whatever order and parts they arrived. If a span has two different copies, the one that ended later is
// used, then the one with more facts.
//
// A Trace is not safe for concurrent use.
type Trace struct {
	id    string
	nodes map[string]*node // by span id: known spans, and unknown ones that are named as parents
	known int
	size  int
	seed  maphash.Seed

	calls      map[string]*group             // by call id
	aliases    map[string]*alias             // by the name of an agent
	names      map[string]string             // of agents, by their plain form
	handoffs   map[string]map[*node]struct{} // by the plain form of the receiving agent
	agentSpans int                           // number of spans that are part of an agent's work
	failed     map[*node]struct{}            // failed roots without facts about an agent
	named      *node                         // the first span that names a run
	runs       map[string]*inRun             // the runs of spans
	services   map[string]int                // number of agents' spans that name each service

	claims map[claimKey]*claim // of the model calls with messages

	first serving // the first of all spans that names a service
	work
}

// Change is a new or changed event, or an event to remove, which has only RunID and ID. An event that moves to another run is
// both. The caller owns the events.
type Change struct {
	Event   *unloop.Event
	Removed bool
	Earlier Earlier
}

// Earlier says whether the trace had the event of a Change, with the same id in the same run, before the latest Add.
type Earlier uint8

// The values of Earlier.
const (
	Unknown Earlier = iota // it may have had it, or log records may have given one of the same id
	Absent
	Present
)

// New returns an empty trace.
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

// Add adds spans of the trace and returns the changes: first the removals, then the events in order. It ignores spans of another
// trace and known spans. A span costs the length of the path to its root, whatever the size of the trace, and O(1) for each span
// whose events change. One Add costs at most a walk over the trace.
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

// Size estimates the memory in bytes.
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

// place returns the node of a span id and creates it if necessary.
func (t *Trace) place(id string) *node {
	n := new(node)
	t.nodes[id] = n
	t.size += nodeSize
	return n
}

// replace replaces the known copy of a span if another copy is better.
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

// compareCopies orders the copies of a span, the best one last: by the end, by the number of facts, then by all facts.
func compareCopies(a, b *Span) int {
	return cmp.Or(
		cmp.Compare(a.End, b.End), cmp.Compare(a.bytes(), b.bytes()), cmp.Compare(a.Start, b.Start),
		cmp.Compare(truth(a.Failed), truth(b.Failed)), cmp.Compare(truth(b.Open), truth(a.Open)), cmp.Compare(a.Kind, b.Kind),
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
	return []string{
		s.ParentID, s.Title, s.Service, s.Run, s.Graph, s.Reason, s.Agent, s.Tool, s.CallID, s.Input, s.Output, s.Model,
		s.Messages,
	}
}

// bytes returns the total length of the span's own texts.
func (s *Span) bytes() int {
	return len(s.ParentID) + len(s.Title) + len(s.Service) + len(s.Run) + len(s.Graph) + len(s.Reason) + len(s.Agent) + len(s.Tool) +
		len(s.CallID) + len(s.Input) + len(s.Output) + len(s.Model) + len(s.Messages)
}
