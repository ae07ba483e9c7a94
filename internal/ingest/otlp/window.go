package otlp

import (
	"strconv"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
	"github.com/unloop-ai/unloop/internal/trace"
)

// window is the spans of a part of a file that are decoded together.
type window struct {
	fallback string // the run of a span without a trace
	next     int    // index of the next span or record
	reader   *reader
	traces   map[string][]trace.Span
	logged   []*unloop.Event // events of log records
	ids      map[string]bool // of those events
}

func newWindow(fallback string, first int) *window {
	return &window{fallback: fallback, next: first, reader: newReader(), traces: make(map[string][]trace.Span), ids: make(map[string]bool)}
}

func (w *window) add(td ptrace.Traces) {
	w.reader.each(td, func(s *trace.Span) {
		s.Index = w.next
		w.next++
		if s.ID == "" {
			s.ID = trace.NoID + strconv.Itoa(s.Index)
		}
		w.traces[s.TraceID] = append(w.traces[s.TraceID], *s)
	})
}

// addLogs adds log records. A record that was sent twice counts once.
func (w *window) addLogs(ld plog.Logs) {
	eachRecord(ld, func(events []*unloop.Event, _ string) {
		for _, e := range events {
			e.Index = w.next
			if !w.ids[e.RunID+"\x00"+e.ID] {
				w.ids[e.RunID+"\x00"+e.ID] = true
				w.logged = append(w.logged, e)
			}
		}
		w.next++
	})
}

// send sends the events in order. An event that spans and records both have counts once.
func (w *window) send(emit ingest.Emit) error {
	var events []*unloop.Event
	spanned := make(map[string]*unloop.Event)
	for _, spans := range w.traces {
		for _, c := range trace.New().Add(spans) {
			events = append(events, c.Event)
			if len(w.logged) > 0 {
				spanned[c.Event.RunID+"\x00"+c.Event.ID] = c.Event
			}
		}
	}
	for _, e := range w.logged {
		if known := spanned[e.RunID+"\x00"+e.ID]; known != nil {
			Join(known, e)
			continue
		}
		events = append(events, e)
	}
	return trace.Send(events, w.fallback, emit)
}
