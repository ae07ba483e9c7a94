package trace

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// WindowSize is the size in bytes of the part of a file whose spans are related to each other. Beyond it, the parent of a span in an
// earlier part is not found.
const WindowSize = 64 << 20

// Window collects the spans of a file and sends their events. Its memory is bounded by WindowSize.
type Window struct {
	run    string // of spans without a trace and a run
	emit   ingest.Emit
	next   int // index of the next span
	size   int
	traces map[string][]Span
	roots  map[string]root // by trace id
}

// root is a trace that its format describes beside its spans.
type root struct{ title, run string }

// NewWindow returns an empty window. run is the run of spans without a trace and a run.
func NewWindow(run string, emit ingest.Emit) *Window {
	return &Window{run: run, emit: emit, traces: make(map[string][]Span), roots: make(map[string]root)}
}

// Add adds a span, whose Index becomes its position among the added ones. It sends the events of the spans before if the window is
// full. An error is that of the receiver of the events.
func (w *Window) Add(s Span) error {
	size := s.bytes() + nodeSize
	if w.size+size > WindowSize && w.size > 0 {
		if err := w.Send(); err != nil {
			return err
		}
	}
	w.size += size
	s.Index = w.next
	w.next++
	if s.ID == "" {
		s.ID = NoID + strconv.Itoa(s.Index)
	}
	if s.Start != 0 && s.End != 0 {
		s.End = max(s.Start, s.End)
	}
	w.traces[s.TraceID] = append(w.traces[s.TraceID], s)
	return nil
}

// Root describes a trace whose format has no span for the whole: its spans without a parent become children of a root that begins
// with the first span and ends with the last. "" for title or run keeps what is known.
func (w *Window) Root(traceID, title, run string) {
	r := w.roots[traceID]
	if title != "" {
		r.title = title
	}
	if run != "" {
		r.run = run
	}
	w.roots[traceID] = r
}

// Send sends the events of the collected spans in order, and drops the spans.
func (w *Window) Send() error {
	var events []*unloop.Event
	for id, spans := range w.traces {
		if r, ok := w.roots[id]; ok {
			spans = r.over(id, spans)
		}
		for _, c := range New().Add(spans) {
			events = append(events, c.Event)
		}
	}
	w.traces, w.size = make(map[string][]Span), 0
	return Send(events, w.run, w.emit)
}

// Send sends events in order. run is the run of events without one.
func Send(events []*unloop.Event, run string, emit ingest.Emit) error {
	slices.SortFunc(events, Before)
	for _, e := range events {
		if e.RunID == "" {
			e.RunID = run
		}
		if err := emit(e); err != nil {
			return err
		}
	}
	return nil
}

// over returns the spans with their root, which has the id of the trace. The run failed if the last
// of these spans to end failed: the agents, and the other spans directly below the root that are not calls. An agent continues after a failed
// call or sub-agent.
func (r root) over(id string, spans []Span) []Span {
	s := Span{TraceID: id, ID: id, Title: r.title, Run: r.run, Index: spans[0].Index, Facts: Facts{Kind: Workflow}}
	last := int64(0)
	for i := range spans {
		c := &spans[i]
		if c.ID == id {
			return spans
		}
		if c.Start != 0 && (s.Start == 0 || c.Start < s.Start) {
			s.Start = c.Start
		}
		s.End = max(s.End, c.End)
		top := c.ParentID == ""
		if top {
			c.ParentID = id
			s.Open = s.Open || c.Open
		}
		if (top || c.Kind == Agent) && c.Kind != Tool && c.Kind != Model && c.End >= last {
			s.Failed, s.Reason = c.Failed || s.Failed && c.End == last, cmp.Or(c.Reason, s.Reason)
			last = c.End
		}
	}
	return append(spans, s)
}
