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

// How refolds are spread over time.
const (
	gatherTime  = 50 * time.Millisecond // from the first late event of a run to its refold
	refoldEvery = 25 * time.Millisecond // between two looks at which refolds are due
	maxRefolds  = 8                     // under way at once
	restFactor  = 4                     // times as long as its refold took does a run wait for the next one
	restMost    = 10 * time.Second
	restFailed  = time.Second // after a refold that failed

	// catchUpEvents bounds what the recorder folds itself of the refolds that it takes over at once.
	catchUpEvents = 4096
)

// How many events the recorder folds again itself. An event of 4 kB counts twice, and so on.
const (
	atOnceRun = 1024 // of one run at once, and in a second
	atOnceAll = 4096 // of all runs at once; in a second
	inSecond  = 8192
)

// late is a run with a mark: events were recorded that are not folded. It is the recorder's.
type late struct {
	due     time.Time      // when its next refold begins, at the earliest
	refold  *refold        // nil while none is under way
	changed store.Position // the first at which the run changed since the refold was handed over
	missed  store.Position // the first change that the refold did not see; end for none
}

// refolds are the runs that are marked, by their ids.
type refolds struct {
	late     map[string]*late
	underWay int
	work     chan *refold // to refoldAll
	done     chan *refold // from it
	tick     *time.Ticker // stopped while no run is marked
	atOnce   *rate.Limiter
	perRun   int // atOnceRun
	slice    int // sliceEvents
	catchUp  int // catchUpEvents
}

func newRefolds() refolds {
	tick := time.NewTicker(refoldEvery)
	tick.Stop()
	return refolds{
		late: make(map[string]*late), work: make(chan *refold, maxRefolds), done: make(chan *refold, maxRefolds), tick: tick,
		atOnce: rate.NewLimiter(inSecond, atOnceAll), perRun: atOnceRun, slice: sliceEvents, catchUp: catchUpEvents,
	}
}

// startRefolds begins refoldAll, which ends with what is returned. The marks of refolds that are under way then stay in the store.
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

// affords reports whether the recorder may fold so much of a run again itself.
func (rs *refolds) affords(r *run, cost int) bool {
	if r.atOnce == nil {
		r.atOnce = rate.NewLimiter(rate.Limit(rs.perRun), rs.perRun)
	}
	now := time.Now()
	return r.atOnce.AllowN(now, cost) && rs.atOnce.AllowN(now, cost)
}

// note remembers, once it is committed, that the run changed from a position on.
func (p *Pipeline) note(r *run, from store.Position) {
	l := p.refolds.late[r.row.ID]
	if l == nil {
		l = &late{due: time.Now().Add(gatherTime), changed: end, missed: end}
		if r.rests.After(l.due) {
			l.due = r.rests
		}
		p.setLate(r.row.ID, l)
	}
	if from.Compare(l.changed) < 0 {
		l.changed = from
	}
}

// setLate adds a marked run, or takes one out for nil.
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

// findLate takes up the marks of the store.
func (p *Pipeline) findLate(ctx context.Context) error {
	ids, err := p.opts.Store.Refolding(ctx)
	for _, id := range ids {
		p.setLate(id, &late{changed: end, missed: end})
	}
	return err
}

// beginRefolds hands over the refolds that are due, those first that are due longest.
func (p *Pipeline) beginRefolds() {
	rs := &p.refolds
	now := time.Now()
	var due []string
	for id, l := range rs.late {
		if l.refold == nil && !now.Before(l.due) {
			due = append(due, id)
		}
	}
	slices.SortFunc(due, func(a, b string) int { return rs.late[a].due.Compare(rs.late[b].due) })
	for _, id := range due[:min(len(due), maxRefolds-rs.underWay)] {
		l := rs.late[id]
		l.refold, l.changed = &refold{id: id, whole: p.live[id].wholeEvents()}, end
		rs.underWay++
		rs.work <- l.refold
	}
}

// takeOver goes on with the refolds that have come back: one that has not ended has another slice, the others are recorded.
func (p *Pipeline) takeOver(ctx context.Context, r *refold) {
	var ended []*refold
	for {
		if p.cameBack(ctx, r) {
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

// cameBack reports whether a refold has ended and is to be recorded.
func (p *Pipeline) cameBack(ctx context.Context, r *refold) bool {
	rs := &p.refolds
	l := rs.late[r.id]
	if l == nil || l.refold != r { // the run was deleted meanwhile
		rs.underWay--
		return false
	}
	if r.gone {
		p.setLate(r.id, nil)
		rs.underWay--
		return false
	}
	if r.err == nil && !r.ended {
		r.err = p.writeAnalyses(ctx, r)
	}
	if r.err != nil {
		p.opts.Log.Error("folding a run again did not succeed", "run", r.id, "error", r.err)
		p.restLate(l, restFailed)
		return false
	}
	// What changed behind the last event that was read will be read. What changed before it may have been.
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

// restLate ends a run's refold, and has the run wait for the next one.
func (p *Pipeline) restLate(l *late, rest time.Duration) {
	l.refold, l.changed, l.missed, l.due = nil, end, end, time.Now().Add(rest)
	p.refolds.underWay--
}

// recordRefolds takes refolds over: it folds what came behind them, writes what they come to in one commit, and tells the sinks.
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
			p.unwrite(batch)
		}
	}
	if err != nil {
		p.opts.Log.Error("recording runs that were folded again did not succeed", "runs", len(ended), "error", err)
		for _, r := range ended {
			p.drop(r.id)
			if l := p.refolds.late[r.id]; l != nil {
				p.restLate(l, restFailed)
			}
		}
		return
	}
	for _, r := range ended {
		p.opts.Metrics.Refolds.Inc()
		p.restRun(c.runs[r.id], r)
	}
	p.makeRoom(ctx)
}

// restRun ends a refold that was recorded.
func (p *Pipeline) restRun(t *runChange, r *refold) {
	rest := min(restFactor*r.work, restMost)
	t.rests = time.Now().Add(rest)
	l := p.refolds.late[r.id]
	if l == nil { // the run was deleted with the commit
		p.refolds.underWay--
		return
	}
	p.restLate(l, max(rest, gatherTime))
	if t.row.Refold == nil {
		p.setLate(r.id, nil)
	}
}

// errEnough ends what the recorder reads behind a refold.
var errEnough = errors.New("the recorder has read enough")

// adopt puts a refold in the place of the run's fold, together with what was recorded behind it. What does not fit into left, and
// what the refold did not see, leaves a mark for another refold.
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
	t.row.Refold, t.current, t.marked = nil, true, true
	if missed != end {
		t.row.Refold, t.current = &store.Refold{Behind: r.forgetBehind(missed), Name: r.fold.s.Name}, false
	}
	t.fold, t.checkpoints, t.checkpointsMade, t.pruned = r.fold, r.checkpoints, r.checkpointsMade, r.pruned
	t.decisions, t.invalidated, t.reanalyzed, t.fold.grew = r.decisions, r.invalidated, r.reanalyzed, true
	t.emptied = r.at == store.Start && t.unnamed() // all its events went elsewhere
	t.deleted = t.emptied
	c.p.arrival++
	t.row.Arrival = c.p.arrival // so that a stream that was not there hears of it
	if t.deleted {
		return nil
	}
	return t.keepState(c.p)
}
