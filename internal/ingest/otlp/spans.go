package otlp

import (
	"cmp"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Spans sends the events of the spans of one request, in the order of their times; an Index counts the request's
// spans, from 0. Parents, agents and the several spans of one call are looked for within the request. It returns
// emit's error.
func Spans(td ptrace.Traces, emit ingest.Emit) error {
	b := newBatch("", 0)
	b.add(td)
	return b.send(emit)
}

// batch is a set of spans that are looked at together.
type batch struct {
	fallback string // the run of a span that has not even a trace
	next     int    // index of the next span
	nodes    []*node
	byID     map[spanKey]*node
	runs     map[pcommon.TraceID]string // the run that a span of the trace names
	told     map[pcommon.TraceID]bool   // traces that tell of an agent
	agents   map[string]string          // names of agents by their plain form
}

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

func newBatch(fallback string, first int) *batch {
	return &batch{
		fallback: fallback,
		next:     first,
		byID:     make(map[spanKey]*node),
		runs:     make(map[pcommon.TraceID]string),
		told:     make(map[pcommon.TraceID]bool),
		agents:   make(map[string]string),
	}
}

func (b *batch) add(td ptrace.Traces) {
	for _, resource := range td.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				b.span(span{Span: s, scope: scope.Scope().Name()})
			}
		}
	}
}

// span takes in one span. Of a span that was sent twice the last copy stands, at the first one's place.
func (b *batch) span(s span) {
	n := newNode(s, b.next)
	b.next++
	if n.run != "" && b.runs[n.key.trace] == "" {
		b.runs[n.key.trace] = n.run
	}
	if n.kind != other {
		b.told[n.key.trace] = true
	}
	if n.agent != "" {
		b.agents[plain(n.agent)] = n.agent
	}
	if n.key.span.IsEmpty() {
		b.nodes = append(b.nodes, n)
		return
	}
	if old := b.byID[n.key]; old != nil {
		n.index = old.index
		*old = *n
		return
	}
	b.byID[n.key] = n
	b.nodes = append(b.nodes, n)
}

// send works out what the spans mean together, and sends their events.
func (b *batch) send(emit ingest.Emit) error {
	for _, n := range b.nodes {
		n.parent = b.byID[spanKey{n.key.trace, n.above}]
	}
	for _, n := range b.nodes {
		n.settle()
	}
	b.merge()
	var moments []moment
	for _, n := range b.nodes {
		moments = append(moments, b.moments(n)...)
	}
	slices.SortStableFunc(moments, func(x, y moment) int {
		return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.rank, y.rank))
	})
	for _, m := range moments {
		if err := emit(m.event); err != nil {
			return err
		}
	}
	return nil
}

// moment is an event with what it is sorted by: its time or, where that is unknown, the nearest that is known.
type moment struct {
	at    time.Time
	rank  int // 1 for the end of a run, which comes after all else
	event *unloop.Event
}

// runOf returns the run of a node: what it or a span above it names, or else any span of the trace, or else the trace.
func (b *batch) runOf(n *node) string {
	if n.run != "" {
		return n.run
	}
	if run := b.runs[n.key.trace]; run != "" {
		return run
	}
	if !n.key.trace.IsEmpty() {
		return n.key.trace.String()
	}
	return b.fallback
}
