package pipeline

import (
	"context"
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/internal/trace"
)

// The spans of a trace belong to the partition of the trace, and its events to those of their runs, which can be other ones. The changes
// in runs of other partitions are forwarded to these before the spans are recorded. A message that comes again forwards the same changes
// again, in the same order. A change says what an event is, so the last one holds, however often it comes.

// Change is a change that spans of a trace cause in a run of another partition.
type Change struct {
	Trace   string        `json:"trace"`
	Run     string        `json:"run"`
	Event   *unloop.Event `json:"-"`                 // the new form of the event; nil if it is removed
	Removed string        `json:"removed,omitempty"` // id of the event that is removed; "" for none
	Linked  bool          `json:"linked,omitempty"`  // the trace has events in the run
	Service string        `json:"service,omitempty"` // names the project of a run without one
}

// forwarded is what a commit has to do with other partitions.
type forwarded struct {
	changes []forwardedChange
	linked  map[store.TraceRun]bool // of traces that other partitions have: whether they have events in the run
}

// forwardedChange is a change for another partition, and the message whose spans cause it.
type forwardedChange struct {
	Change
	from *queued
}

// isForeign reports whether another partition has the run.
func (c *commit) isForeign(run string) bool {
	own := c.p.opts.Partition
	return own != nil && !own.Has(run)
}

// forwardLater notes a change for another partition.
func (c *commit) forwardLater(w *queued, t *liveTrace, change trace.Change) {
	e := change.Event
	f := Change{Trace: t.id, Run: e.RunID, Linked: !change.Removed || t.events.In(e.RunID), Service: t.events.Service(e.RunID)}
	if change.Removed {
		f.Removed = e.ID
	} else {
		f.Event = e
	}
	c.changes = append(c.changes, forwardedChange{f, w})
}

// forward hands the changes to their partitions. It returns when they are on disk there.
func (c *commit) forward(ctx context.Context) error {
	for k := 0; k < len(c.changes); {
		from := c.changes[k].from
		var all []Change
		for ; k < len(c.changes) && c.changes[k].from == from; k++ {
			all = append(all, c.changes[k].Change)
		}
		if err := c.p.opts.Partition.Forward(ctx, from.Submission, all); err != nil {
			return fmt.Errorf("forward changes to other partitions: %w", err)
		}
	}
	return nil
}

// placeForwarded places the changes that other partitions forwarded.
func (c *commit) placeForwarded(ctx context.Context, w *queued) error {
	for k := range w.Changes {
		change := &w.Changes[k]
		run, err := c.touch(ctx, change.Run)
		if err != nil {
			return err
		}
		if c.linked == nil {
			c.linked = make(map[store.TraceRun]bool)
		}
		c.linked[store.TraceRun{Trace: change.Trace, Run: run.row.Number}] = change.Linked
		if change.Event == nil {
			run.remove(change.Removed, trace.Unknown) // the message may have come before
			continue
		}
		run.setProject(change.Service, c.p.opts.Project)
		if c.p.opts.Prepare != nil {
			c.p.opts.Prepare(change.Event)
		}
		body, err := c.p.opts.Content.encode(change.Event)
		if err != nil {
			return err
		}
		run.place(&item{event: change.Event, body: body, placement: placement{received: w.received, size: len(body)}, change: true})
	}
	return nil
}
