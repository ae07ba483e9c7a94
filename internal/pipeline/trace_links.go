package pipeline

import (
	"github.com/unloop-ai/unloop/internal/store"
)

// link is a trace and a run within one commit.
type link struct {
	trace *liveTrace
	run   *runChange
}

// link records whether the trace has events in the run.
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

// addTraces adds the spans to a batch, and the links between traces and runs.
func (c *commit) addTraces(b *store.Batch) {
	b.Spans = c.spans
	for x, has := range c.linked {
		if has {
			b.Traces = append(b.Traces, x)
		} else {
			b.Left = append(b.Left, x)
		}
	}
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
