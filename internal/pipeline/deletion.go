package pipeline

import (
	"context"
	"fmt"

	json "github.com/go-json-experiment/json"

	"github.com/unloop-ai/unloop/internal/store"
)

// abandoned reports whether all events of the run moved to other runs and no sender reported about the run itself.
func (t *runChange) abandoned() bool {
	return t.row.Refold == nil && t.fold.s.Events == 0 && len(t.replaced) > 0 && t.onlyDerived()
}

// onlyDerived reports whether everything that is known about the run comes from its events.
func (t *runChange) onlyDerived() bool {
	return !t.informed && t.row.Metadata == nil && t.row.Name == t.derivedName
}

// stripContent removes the content from the spans of deleted runs that other runs still need.
func (c *commit) stripContent(ctx context.Context, w *queued) error {
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

// stripTrace does the same for one trace. The trace leaves memory with the commit.
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

// dropOf drops the traces with events in a run from memory, because the store no longer has the same spans of them.
func (ts *traces) dropOf(run string) {
	for _, t := range ts.live {
		if t.events.In(run) {
			ts.drop(t)
		}
	}
}
