package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// takeOver continues with the refolds that refoldAll returned. An unfinished refold gets another slice. The finished ones are
// recorded.
func (p *Pipeline) takeOver(ctx context.Context, r *refold) {
	var ended []*refold
	for {
		if p.advance(ctx, r) {
			ended = append(ended, r)
		}
		select {
		case r = <-p.refolds.done:
			continue
		default:
		}
		break
	}
	if len(ended) > 0 {
		p.recordRefolds(ctx, ended)
	}
}

// advance continues a refold that refoldAll returned: it starts its next slice, or ends one that failed or whose run was deleted. It reports
// whether the refold is complete, so that it must be recorded.
func (p *Pipeline) advance(ctx context.Context, r *refold) bool {
	rs := &p.refolds
	l := rs.late[r.id]
	if l == nil || l.refold != r { // the run was deleted in the meantime
		rs.underWay--
		return false
	}
	if r.deleted {
		p.setLate(r.id, nil)
		rs.underWay--
		return false
	}
	if r.err == nil && !r.ended {
		r.err = p.writeAnalyses(ctx, r)
	}
	if r.err != nil {
		p.opts.Log.Error("a refold failed", "run", r.id, "error", r.err)
		p.endRefold(l, failedRest)
		return false
	}
	// The refold will read changes after r.at. It may have missed changes before it.
	if l.changed.Compare(r.at) <= 0 && l.changed.Compare(l.missed) < 0 {
		l.missed = l.changed
	}
	l.changed = end
	if !r.ended {
		rs.work <- r
		return false
	}
	return true
}

// endRefold ends the refold of a run. The next one starts after rest at the earliest.
func (p *Pipeline) endRefold(l *late, rest time.Duration) {
	l.refold, l.changed, l.missed, l.due = nil, end, end, time.Now().Add(rest)
	p.refolds.underWay--
}

// recordRefolds takes over finished refolds: it folds the events that arrived after them, writes the results in one commit, and
// notifies the sinks.
func (p *Pipeline) recordRefolds(ctx context.Context, ended []*refold) {
	c := p.newCommit(nil)
	left := p.refolds.catchUp
	var err error
	for _, r := range ended {
		if err = c.adopt(ctx, r, &left); err != nil {
			break
		}
	}
	if err == nil {
		batch, updates := c.makeBatch()
		if _, err = p.commit(ctx, batch); err == nil {
			p.publish(updates)
		} else {
			p.markUnwritten(batch)
		}
	}
	if err != nil {
		p.opts.Log.Error("recording refolds failed", "runs", len(ended), "error", err)
		for _, r := range ended {
			p.drop(r.id)
			if l := p.refolds.late[r.id]; l != nil {
				p.endRefold(l, failedRest)
			}
		}
		return
	}
	for _, r := range ended {
		p.opts.Metrics.Refolds.Inc()
		p.endRecorded(c.runs[r.id], r)
	}
	p.makeRoom(ctx)
}

// endRecorded ends a refold that was recorded.
func (p *Pipeline) endRecorded(t *runChange, r *refold) {
	rest := min(restFactor*r.work, maxRest)
	t.nextRefold = time.Now().Add(rest)
	l := p.refolds.late[r.id]
	if l == nil { // the commit deleted the run
		p.refolds.underWay--
		return
	}
	p.endRefold(l, max(rest, gatherTime))
	if t.row.Refold == nil {
		p.setLate(r.id, nil)
	}
}

// errEnough ends the reading of the events after a refold.
var errEnough = errors.New("the recorder has read enough")

// adopt replaces the fold of the run by a refold and folds the events that were recorded after it. A mark for another refold
// remains if those are more than left, or if the refold missed a change.
func (c *commit) adopt(ctx context.Context, r *refold, left *int) error {
	missed := c.p.refolds.late[r.id].missed
	r.whole = c.p.live[r.id].wholeEvents()
	err := c.p.opts.Store.NextEvents(ctx, r.row.Number, r.at, *left+1, func(e *store.Event) error {
		if *left == 0 {
			if e.Position.Compare(missed) < 0 {
				missed = e.Position
			}
			return errEnough
		}
		*left--
		r.take(c.p, e)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	t, err := c.touch(ctx, r.id)
	if err != nil {
		return err
	}
	t.row.Refold, t.current, t.marked, t.kept = nil, true, true, r.kept
	if missed != end {
		t.kept = nil
		t.row.Refold, t.current = &store.Refold{Behind: r.forgetBehind(missed), Name: r.fold.s.Name}, false
	}
	t.fold, t.checkpoints, t.checkpointsMade, t.pruned = r.fold, r.checkpoints, r.checkpointsMade, r.pruned
	t.decisions, t.invalidated, t.reanalyzed, t.fold.grew = r.decisions, r.invalidated, r.reanalyzed, true
	t.emptied = r.at == store.Start && t.onlyDerived() // all its events moved to other runs
	t.deleted = t.emptied
	t.row.Arrival = c.p.newArrival() // so that later subscribers of streams receive the change
	if t.deleted {
		return nil
	}
	return t.keepState(c.p)
}
