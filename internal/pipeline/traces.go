package pipeline

import (
	"container/list"
	"context"
	"time"

	json "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// traces are the traces in memory. Other traces are read from the spans in the store.
type traces struct {
	live  map[string]*liveTrace
	used  list.List // of *liveTrace, the most recently used first
	bytes int
}

// liveTrace is a trace in memory.
type liveTrace struct {
	id     string
	events *trace.Trace
	run    int64 // the number of a run in which the store knows that the trace has events; 0 for none
	bytes  int
	seen   time.Time
	place  *list.Element
}

// placeSpans computes how the spans of a submission change the events of runs, and places the changes.
func (c *commit) placeSpans(ctx context.Context, w *queued) error {
	spans, bodies := w.Spans, w.spanBodies // w may be recorded again
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].TraceID == spans[0].TraceID {
			n++
		}
		if err := c.placeTrace(ctx, w, spans[:n], bodies[:n]); err != nil {
			return err
		}
		spans, bodies = spans[n:], bodies[n:]
	}
	return nil
}

// placeTrace does the same for the spans of one trace.
func (c *commit) placeTrace(ctx context.Context, w *queued, spans []trace.Span, bodies [][]byte) error {
	t, err := c.p.trace(ctx, spans[0].TraceID)
	if err != nil {
		return err
	}
	c.traces[t] = w.received
	before := serviceNames{first: t.events.FirstService(), ofRun: t.events.ServicesOf(spans)}
	resent := t.resent(spans)
	changes := t.events.Add(spans)
	for _, change := range changes {
		if err := c.placeChange(ctx, w, t, change); err != nil {
			return err
		}
	}
	for i := range spans {
		if !resent[i] && t.events.IsCanonical(&spans[i]) {
			c.spans = append(c.spans, store.Span{Trace: t.id, ID: spans[i].ID, Received: w.received, Body: bodies[i]})
		}
	}
	c.p.traces.resize(t, w.received)
	return c.assignProjects(ctx, t, changes, before)
}

// resent reports which spans the store has as they are, since their sender sent them before. It has all spans of a trace with events. Those of
// a trace without any may have been deleted.
func (t *liveTrace) resent(spans []trace.Span) []bool {
	resent := make([]bool, len(spans))
	if len(t.events.Runs()) == 0 {
		return resent
	}
	for i := range spans {
		resent[i] = t.events.Has(&spans[i])
	}
	return resent
}

// serviceNames are the services of a trace before spans were added to it.
type serviceNames struct {
	first string            // of the trace
	ofRun map[string]string // of the runs that had other copies of the spans
}

// was returns the service that gave the run its project before.
func (n serviceNames) was(run string) string {
	if service := n.ofRun[run]; service != "" {
		return service
	}
	return n.first
}

// placeChange places a change in the events of a run.
func (c *commit) placeChange(ctx context.Context, w *queued, t *liveTrace, change trace.Change) error {
	e := change.Event
	if c.isForeign(e.RunID) {
		c.forwardLater(w, t, change)
		return nil
	}
	run, err := c.touch(ctx, e.RunID)
	if err != nil {
		return err
	}
	c.link(t, run, !change.Removed || t.events.In(e.RunID))
	if change.Removed {
		run.remove(e.ID, change.Earlier)
		return nil
	}
	if c.p.opts.Prepare != nil {
		c.p.opts.Prepare(e)
	}
	body, err := c.p.opts.Content.encode(e)
	if err != nil {
		return err
	}
	run.place(&item{event: e, body: body, placement: placement{received: w.received, size: len(body)}, change: true, earlier: change.Earlier})
	return nil
}

// setProject sets the project of a run without one to that of the service that sent it.
func (t *runChange) setProject(service, noProject string) {
	if t.row.Project == noProject && service != "" && service != noProject {
		t.row.Project, t.rowChanged = store.Key(service), true
	}
}

// assignProjects sets the projects of the runs whose events or services changed. If the service of the trace changed, it sets
// those of all runs of the trace.
func (c *commit) assignProjects(ctx context.Context, t *liveTrace, changes []trace.Change, before serviceNames) error {
	runs := make(map[string]bool)
	for run := range t.events.Served() {
		runs[run] = true
	}
	for _, change := range changes {
		runs[change.Event.RunID] = true
	}
	if t.events.FirstService() != before.first {
		for _, run := range t.events.Runs() {
			runs[run] = true
		}
	}
	for id := range runs {
		service := t.events.Service(id)
		was := before.was(id)
		if service == "" && was == "" || !t.events.In(id) || c.isForeign(id) {
			continue
		}
		run, err := c.touch(ctx, id)
		if err != nil {
			return err
		}
		if service == "" { // a better copy of the span has no service
			if run.row.Project == store.Key(was) {
				run.row.Project, run.rowChanged = c.p.opts.Project, true
			}
			continue
		}
		// The project may come from a span whose better copy is not part of an agent's work.
		if project := run.row.Project; project != store.Key(service) && (project == store.Key(was) || t.events.Serves(project)) {
			run.row.Project, run.rowChanged = store.Key(service), true
		}
		run.setProject(service, c.p.opts.Project)
	}
	return nil
}

// trace returns a trace from memory, or makes it from the spans in the store.
func (p *Pipeline) trace(ctx context.Context, id string) (*liveTrace, error) {
	if t := p.traces.live[id]; t != nil {
		p.traces.used.MoveToFront(t.place)
		return t, nil
	}
	stored, err := p.opts.Store.Spans(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &liveTrace{id: id, events: trace.New()}
	spans := make([]trace.Span, 0, len(stored))
	for k := range stored {
		var s trace.Span
		if err := json.Unmarshal(stored[k].Body, &s); err != nil {
			p.opts.Metrics.Unreadable.Inc()
			continue
		}
		spans = append(spans, s)
	}
	t.events.Add(spans)
	if p.traces.live == nil {
		p.traces.live = make(map[string]*liveTrace)
	}
	p.traces.live[id] = t
	t.place = p.traces.used.PushFront(t)
	return t, nil
}

func (ts *traces) resize(t *liveTrace, now time.Time) {
	size := t.events.Size()
	ts.bytes += size - t.bytes
	t.bytes, t.seen = size, now
}

// makeRoom drops the longest idle traces from memory: those beyond a number of bytes (0 means no limit), and those not used since
// a time.
func (ts *traces) makeRoom(bytes int, since time.Time) {
	for at := ts.used.Back(); at != nil; {
		t := at.Value.(*liveTrace)
		if !(bytes > 0 && ts.bytes > bytes || t.seen.Before(since)) {
			return
		}
		at = at.Prev()
		ts.drop(t)
	}
}

// drop drops a trace from memory.
func (ts *traces) drop(t *liveTrace) {
	if ts.live[t.id] == t {
		ts.used.Remove(t.place)
		ts.bytes -= t.bytes
		delete(ts.live, t.id)
	}
}
