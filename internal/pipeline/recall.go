package pipeline

import (
	"context"
	"time"
)

// recallCost bounds the cost of the refolds from kept events between two checks, about 4 ms, and that of one run: a run waits for the next
// check if others are due for longer. So many late events cause few refolds, each for all late events of its run.
const recallCost = 512

// recallable reports whether a marked run can be refolded from its kept events, while all other runs wait.
func (p *Pipeline) recallable(id string) bool {
	r := p.live[id]
	return r != nil && r.kept != nil && len(r.kept.events) > 0 && r.row.Refold != nil && r.kept.cost() <= min(recallCost, p.refolds.perRun)
}

// recall refolds marked runs from their kept events, as far as recallCost allows. The runs are recorded in one commit. It reads nothing
// from the store, so the writer may have other commits.
func (p *Pipeline) recall(ctx context.Context, due []string) {
	c := p.newCommit(nil)
	left := p.refolds.perCheck
	for _, id := range due {
		if left <= 0 {
			p.refolds.busy = time.Now().Add(busyTime)
			break
		}
		t, err := c.touch(ctx, id)
		if err != nil {
			break // impossible: the run is in memory
		}
		left -= t.kept.cost()
		t.row.Refold, t.marked, t.how = nil, true, foldAgain
		t.row.Arrival = p.newArrival() // so that later subscribers of streams receive the change
		p.refolds.late[id].recalled = c
	}
	err := c.guard(func() error {
		if err := c.each(func(t *runChange) error { return t.recall(ctx, p) }); err != nil {
			return err
		}
		c.batch, c.updates = c.makeBatch()
		return nil
	})
	if err != nil {
		p.drain(ctx) // it may have commits of the runs, which are now dropped
		c.discard()
		p.opts.Log.Error("recording refolds failed", "runs", len(c.order), "error", err)
		return
	}
	p.weighAll(c)
	p.handOver(ctx, c)
}

// recall refolds the run from its kept events.
func (t *runChange) recall(ctx context.Context, p *Pipeline) error {
	began := time.Now()
	if err := t.refold(ctx, p, t.from, nil); err != nil {
		return err
	}
	t.dropKept()
	t.nextRefold = time.Now().Add(min(restFactor*time.Since(began), maxRest))
	t.build(p)
	return nil
}

// endRecalls removes the marks of the runs that a commit refolded. A run that was marked again meanwhile keeps its mark.
func (c *commit) endRecalls() {
	for _, t := range c.order {
		if l := c.p.refolds.late[t.row.ID]; l != nil && l.recalled == c {
			c.p.setLate(t.row.ID, nil)
		}
	}
}

// repeatRecalls makes the runs that a commit was to refold due again, since it is not written.
func (c *commit) repeatRecalls() {
	for id := range c.runs {
		if l := c.p.refolds.late[id]; l != nil && l.recalled == c {
			l.recalled, l.due = nil, time.Now().Add(failedRest)
		}
	}
}
