package pipeline

import (
	"container/list"
	"context"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop/internal/ingest/otlp"
	"github.com/unloop-ai/unloop/internal/store"
)

// traces are the traces in memory. What is not there is read from the spans of the store.
type traces struct {
	live  map[string]*trace
	used  list.List // of *trace, the latest in front
	bytes int
}

// trace is a trace in memory.
type trace struct {
	id     string
	events *otlp.Trace
	run    int64 // number of the run of its latest event; 0 for none
	bytes  int
	seen   time.Time
	place  *list.Element
}

// placeSpans works out what a delivery's spans change in the events of runs, and places that.
func (c *commit) placeSpans(ctx context.Context, w *waiting) error {
	for len(w.Spans) > 0 {
		n := 1
		for n < len(w.Spans) && w.Spans[n].TraceID == w.Spans[0].TraceID {
			n++
		}
		if err := c.placeTrace(ctx, w, w.Spans[:n], w.spanBodies[:n]); err != nil {
			return err
		}
		w.Spans, w.spanBodies = w.Spans[n:], w.spanBodies[n:]
	}
	return nil
}

// placeTrace does so for spans of one trace.
func (c *commit) placeTrace(ctx context.Context, w *waiting, spans []otlp.Span, bodies [][]byte) error {
	t, err := c.p.trace(ctx, spans[0].TraceID)
	if err != nil {
		return err
	}
	c.traces = append(c.traces, t)
	service := otlp.Service(spans)
	for _, change := range t.events.Add(spans) {
		e := change.Event
		run, err := c.touch(ctx, e.RunID)
		if err != nil {
			return err
		}
		t.run = run.row.Number
		run.belong(service, c.p.opts.Project)
		if change.Removed {
			run.remove(e.ID)
			continue
		}
		if c.p.opts.Prepare != nil {
			c.p.opts.Prepare(e)
		}
		body, err := c.p.opts.Content.encode(e)
		if err != nil {
			return err
		}
		run.place(&item{event: e, body: body, placed: placed{received: w.received, size: len(body)}, change: true})
	}
	for i := range spans {
		if !t.events.Stands(&spans[i]) {
			continue
		}
		c.spans = append(c.spans, store.Span{
			Trace: spans[i].TraceID, ID: spans[i].ID, Run: t.run, Received: w.received, Body: bodies[i],
		})
	}
	c.p.traces.resize(t, w.received)
	return nil
}

// belong puts a run of no project into that of the service that sent it.
func (t *touched) belong(service, noProject string) {
	if t.row.Project == noProject && service != "" && service != noProject {
		t.row.Project, t.told = store.Key(service), true
	}
}

// trace returns a trace, from memory or as the store's spans make it.
func (p *Pipeline) trace(ctx context.Context, id string) (*trace, error) {
	if t := p.traces.live[id]; t != nil {
		p.traces.used.MoveToFront(t.place)
		return t, nil
	}
	stored, err := p.opts.Store.Spans(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &trace{id: id, events: otlp.NewTrace()}
	spans := make([]otlp.Span, 0, len(stored))
	for k := range stored {
		var s otlp.Span
		if err := json.Unmarshal(stored[k].Body, &s); err != nil {
			p.opts.Metrics.Unreadable.Inc()
			continue
		}
		spans = append(spans, s)
		t.run = max(t.run, stored[k].Run)
	}
	t.events.Add(spans)
	if p.traces.live == nil {
		p.traces.live = make(map[string]*trace)
	}
	p.traces.live[id] = t
	t.place = p.traces.used.PushFront(t)
	return t, nil
}

func (ts *traces) resize(t *trace, now time.Time) {
	size := t.events.Size()
	ts.bytes += size - t.bytes
	t.bytes, t.seen = size, now
}

// makeRoom puts traces out of memory, the longest idle first: those beyond so many bytes (0 for no limit), and those not seen
// since a time.
func (ts *traces) makeRoom(bytes int, since time.Time) {
	for at := ts.used.Back(); at != nil; {
		t := at.Value.(*trace)
		if !(bytes > 0 && ts.bytes > bytes || t.seen.Before(since)) {
			return
		}
		at = at.Prev()
		ts.drop([]*trace{t})
	}
}

// drop puts traces out of memory.
func (ts *traces) drop(gone []*trace) {
	for _, t := range gone {
		if ts.live[t.id] == t {
			ts.used.Remove(t.place)
			ts.bytes -= t.bytes
			delete(ts.live, t.id)
		}
	}
}
