package pipeline

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop/internal/store"
)

// The schedule of refolds.
const (
	gatherTime  = 50 * time.Millisecond  // from the first late event of a run to its refold
	gatherLong  = 500 * time.Millisecond // the same while refolds from kept events wait for others
	busyTime    = 2 * time.Second        // after one has waited
	refoldEvery = 25 * time.Millisecond  // between two checks for due refolds
	maxRefolds  = 8                      // at the same time
	restFactor  = 4                      // a run waits this many times the duration of its last refold for the next one
	maxRest     = 10 * time.Second
	failedRest  = time.Second // after a refold that failed

	// catchUpEvents bounds the events that the recorder itself folds when it takes over finished refolds.
	catchUpEvents = 4096
)

// The number of events that the recorder itself refolds. An event of 4 kB counts twice, one of 8 kB three times.
const (
	atOnceRun = 1024 // of one run at once, and in a second
	atOnceAll = 4096 // of all runs at once
	inSecond  = 8192
)

// late is a run with a mark: it has recorded events that are not folded. It belongs to the recorder.
type late struct {
	due     time.Time      // the earliest start of the next refold
	refold  *refold        // the current refold, or nil
	changed store.Position // the first position that changed since the refold started
	missed  store.Position // the first change that the refold did not see; end for none

	recalled *commit // that refolds it from its kept events; nil for none
}

// refolds are the marked runs by id, and their refolds.
type refolds struct {
	late     map[string]*late
	underWay int
	work     chan *refold  // to refoldAll
	done     chan *refold  // from it
	tick     *time.Ticker  // stopped while no run is marked
	atOnce   *rate.Limiter // of events that are read
	recalled *rate.Limiter // of kept events
	busy     time.Time     // until then, refolds from kept events gather for gatherLong
	perRun   int           // atOnceRun
	slice    int           // sliceEvents
	perCheck int           // recallCost
	catchUp  int           // catchUpEvents
}

func newRefolds() refolds {
	tick := time.NewTicker(refoldEvery)
	tick.Stop()
	return refolds{
		late: make(map[string]*late), work: make(chan *refold, maxRefolds), done: make(chan *refold, maxRefolds), tick: tick,
		atOnce: rate.NewLimiter(inSecond, atOnceAll), recalled: rate.NewLimiter(inSecond, atOnceAll), perRun: atOnceRun, slice: sliceEvents, perCheck: recallCost, catchUp: catchUpEvents,
	}
}

// startRefolds starts refoldAll. The returned function stops it. The marks of unfinished refolds then stay in the store.
func (p *Pipeline) startRefolds(ctx context.Context) (end func()) {
	working, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { p.refoldAll(working, p.refolds.work, p.refolds.done) })
	return func() {
		stop()
		close(p.refolds.work)
		all.Wait()
		p.refolds.tick.Stop()
	}
}

// allow reports whether the recorder may itself refold a part of the run with the given cost.
func (rs *refolds) allow(r *run, cost int) bool {
	if r.atOnce == nil {
		r.atOnce = rate.NewLimiter(rate.Limit(rs.perRun), rs.perRun)
	}
	all := rs.atOnce
	if r.kept != nil {
		all = rs.recalled
	}
	now := time.Now()
	if r.kept != nil && now.Before(rs.busy) {
		return false
	}
	return r.atOnce.AllowN(now, cost) && all.AllowN(now, cost)
}

// noteChange remembers that a committed change affects the run from a position on.
func (p *Pipeline) noteChange(r *run, from store.Position) {
	l := p.refolds.late[r.row.ID]
	if l == nil {
		l = &late{due: p.gathered(r), changed: end, missed: end}
		if r.nextRefold.After(l.due) {
			l.due = r.nextRefold
		}
		p.setLate(r.row.ID, l)
	}
	if l.recalled != nil { // before this change
		l.recalled, l.due = nil, p.gathered(r)
	}
	if from.Compare(l.changed) < 0 {
		l.changed = from
	}
}

// gathered returns when the refold of a run is due whose first late event is recorded now.
func (p *Pipeline) gathered(r *run) time.Time {
	now := time.Now()
	if r.kept != nil && now.Before(p.refolds.busy) {
		return now.Add(gatherLong)
	}
	return now.Add(gatherTime)
}

// setLate adds a marked run. If l is nil, it removes the run.
func (p *Pipeline) setLate(id string, l *late) {
	rs := &p.refolds
	if l != nil {
		rs.late[id] = l
	} else {
		delete(rs.late, id)
	}
	switch {
	case len(rs.late) == 0:
		rs.tick.Stop()
	case len(rs.late) == 1:
		rs.tick.Reset(refoldEvery)
	}
	p.late.Store(int64(len(rs.late)))
	p.opts.Metrics.Refolding.Set(float64(len(rs.late)))
}

// findLate loads the marks of the store.
func (p *Pipeline) findLate(ctx context.Context) error {
	ids, err := p.opts.Store.Refolding(ctx)
	for _, id := range ids {
		p.setLate(id, &late{changed: end, missed: end})
	}
	return err
}

// beginRefolds begins the due refolds, the longest due first. Those from kept events are done at once.
func (p *Pipeline) beginRefolds(ctx context.Context) {
	recalled, others := p.dueRefolds()
	if len(others) > 0 && p.refolds.underWay < maxRefolds {
		if !p.drain(ctx) {
			return // the runs may have left memory
		}
		p.startDue(others)
	}
	if len(recalled) > 0 {
		p.recall(ctx, recalled)
	}
}

// dueRefolds returns the runs whose refold is due, the longest due first: those with kept events, and the others.
func (p *Pipeline) dueRefolds() (recalled, others []string) {
	now := time.Now()
	late := p.refolds.late
	var all []string
	for id, l := range late {
		if l.refold == nil && l.recalled == nil && !now.Before(l.due) {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return late[a].due.Compare(late[b].due) })
	for _, id := range all {
		if p.recallable(id) {
			recalled = append(recalled, id)
		} else {
			others = append(others, id)
		}
	}
	return recalled, others
}

// startDue gives runs to refoldAll, as many as may be under way.
func (p *Pipeline) startDue(ids []string) {
	rs := &p.refolds
	for _, id := range ids[:min(len(ids), maxRefolds-rs.underWay)] {
		l, r := rs.late[id], p.live[id]
		if l == nil {
			continue // a commit deleted the run
		}
		if r != nil {
			r.kept = nil // their analyses change in the store
			p.weigh(r)
		}
		l.refold, l.changed = &refold{id: id, whole: r.wholeEvents(), keeps: p.mayKeep()}, end
		rs.underWay++
		rs.work <- l.refold
	}
}

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
