package pipeline

import (
	"context"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop/internal/store"
)

// link is a trace and a run within one commit.
type link struct {
	trace *liveTrace
	run   *runChange
}

// link notes that the trace has events in the run, or has none there any more.
func (c *commit) link(t *liveTrace, run *runChange, has bool) {
	switch {
	case has && t.run == run.row.Number:
		return
	case has:
		t.run = run.row.Number
	case t.run == run.row.Number:
		t.run = 0
	}
	c.links[link{t, run}] = has
}

// belongings adds to a batch the spans, and which traces have events in which runs.
func (c *commit) belongings(b *store.Batch) {
	b.Spans = c.spans
	for l, has := range c.links {
		x := store.TraceRun{Trace: l.trace.id, Run: l.run.row.Number}
		if has {
			b.Traces = append(b.Traces, x)
		} else {
			b.Left = append(b.Left, x)
		}
	}
	for t, received := range c.traces {
		if len(t.events.Runs()) == 0 {
			b.Traces = append(b.Traces, store.TraceRun{Trace: t.id, Received: received})
		}
	}
}

// hollow reports whether the run's events all went elsewhere, and nobody has said anything of the run beside them.
func (t *runChange) hollow() bool {
	return t.row.Refold == nil && t.fold.s.Events == 0 && len(t.replaced) > 0 && t.unnamed()
}

// unnamed reports whether all that is known of the run was said by its events.
func (t *runChange) unnamed() bool {
	return !t.informed && t.row.Metadata == nil && t.row.Name == t.derivedName
}

// strip takes the content out of the spans of runs that are deleted, where the spans of other runs still need them.
func (c *commit) strip(ctx context.Context, w *queued) error {
	for _, id := range w.Deleted {
		run := c.runs[id]
		if !run.stored {
			continue
		}
		shared, err := c.p.opts.Store.SharedTraces(ctx, run.row.Number)
		if err != nil {
			return err
		}
		for _, name := range shared {
			if err := c.stripTrace(ctx, w, name, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// stripTrace does so in one trace, which leaves memory with the commit.
func (c *commit) stripTrace(ctx context.Context, w *queued, name, run string) error {
	t, err := c.p.trace(ctx, name)
	if err != nil {
		return err
	}
	c.traces[t] = w.received
	spans := t.events.Deleted(run)
	for i := range spans {
		body, err := json.Marshal(&spans[i])
		if err != nil {
			return fmt.Errorf("encode span %s: %w", spans[i].ID, err)
		}
		c.spans = append(c.spans, store.Span{Trace: name, ID: spans[i].ID, Received: w.received, Body: body})
	}
	return nil
}

// dropOf puts the traces out of memory that have events in a run: the store has other spans of them, or none.
func (ts *traces) dropOf(run string) {
	for _, t := range ts.live {
		if t.events.In(run) {
			ts.drop(t)
		}
	}
}
