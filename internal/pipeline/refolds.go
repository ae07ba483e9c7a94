package pipeline

import (
	"context"
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
