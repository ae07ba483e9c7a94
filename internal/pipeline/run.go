package pipeline

import (
	"container/list"
	"context"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// run is a run in memory. Its state follows from the events in the store. If an error makes the state uncertain, the run is
// dropped and loaded again.
type run struct {
	row         store.Run
	fold        *fold
	warnings    []store.Warning    // as recorded
	checkpoints []store.Checkpoint // at most the last two, without their states
	used        time.Time
	bytes       int64        // approximate size
	whole       []wholeEvent // the latest events, if not all of their content is stored
	wholeBytes  int
	kept        *kept // its events, if it had late ones; nil for none
	keptBytes   int   // their known size
	bare        bool  // warnings and decisions quote no content
	place       *list.Element
	derivedName string         // the name that its events give it
	stored      bool           // the store has the run
	written     time.Time      // when its row was written
	rowBehind   bool           // when the run was loaded, its stored row was that of earlier events
	current     bool           // its fold includes all its events under the current settings
	recorded    store.Position // position of the furthest recorded event, if the run is marked
	atOnce      *rate.Limiter  // limits the events that are refolded with a commit
	nextRefold  time.Time      // the earliest time of the next refold
	underWay    int            // commits with the run that the writer has
}

// furthest returns the position of the furthest recorded event, or the zero Position if there is none.
func (r *run) furthest() store.Position {
	switch {
	case r.row.Refold != nil:
		return r.recorded
	case r.fold.s.Events == 0:
		return store.Position{}
	}
	return r.fold.s.Furthest
}

// run returns the run, from memory, from the store, or a new one.
func (p *Pipeline) run(ctx context.Context, id string) (*run, error) {
	if r := p.live[id]; r != nil {
		p.used.MoveToFront(r.place)
		return r, nil
	}
	r, err := p.load(ctx, id)
	if err != nil {
		return nil, err
	}
	p.live[id] = r
	if r.rowBehind {
		p.unwritten[id] = r
	}
	r.place = p.used.PushFront(r)
	p.weigh(r)
	return r, nil
}

func (p *Pipeline) load(ctx context.Context, id string) (*run, error) {
	row, err := p.opts.Store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return &run{
			row:  store.Run{Number: p.newNumber(), ID: id, Project: p.opts.Project, Status: store.Running, MeanNovelty: 1},
			fold: p.newFold(id), current: true, bare: p.opts.Content == NoContent,
		}, nil
	}
	r := &run{row: *row, stored: true, current: true, bare: p.opts.Content == NoContent}
	if row.Refold != nil {
		return r, p.loadMarked(ctx, r)
	}
	if err := p.resume(ctx, r, func(store.Position) bool { return true }); err != nil {
		return nil, err
	}
	err = p.opts.Store.Events(ctx, r.row.Number, r.fold.s.Furthest, func(e *store.Event) error {
		if event := p.decode(e); event != nil {
			p.add(r.fold, event, placementOf(e))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.warnings, r.derivedName = warningsOf(r), r.fold.s.Name
	if r.rowBehind = r.current && r.fold.s.Arrival > row.Arrival; r.rowBehind {
		r.describe(p.opts.Profile.Name())
	}
	return r, nil
}

// newFold returns the fold of a run without events.
func (p *Pipeline) newFold(id string) *fold {
	j := p.judge.Load()
	f := newFold(j.profile, id)
	f.settings = j.settings
	p.configure(f)
	return f
}

// configure passes the options of the pipeline to a fold. The fold keeps the texts that questions contain if second opinions are
// configured. Without stored content it takes no name from a message. Events are masked before they are folded.
func (p *Pipeline) configure(f *fold) {
	f.untitled = p.opts.Content == NoContent
	if p.opts.Ask != nil {
		f.session.KeepTranscript(nil)
	}
}

// newNumber returns the number of the next run.
func (p *Pipeline) newNumber() int64 {
	p.number = max(p.number+1, p.opts.Store.FirstNumber(time.Now()))
	if own := p.opts.Partition; own != nil { // modulo Of it is the partition
		p.number += (own.ID - p.number%own.Of + own.Of) % own.Of
	}
	return p.number
}

// loadMarked loads the fields of a marked run that senders and sinks need until its refold.
func (p *Pipeline) loadMarked(ctx context.Context, r *run) (err error) {
	r.current, r.derivedName, r.fold = false, r.row.Refold.Name, newFold(p.judge.Load().profile, r.row.ID)
	if r.recorded, err = p.opts.Store.Furthest(ctx, r.row.Number); err != nil {
		return err
	}
	r.warnings, err = p.opts.Store.Warnings(ctx, r.row.Number)
	slices.SortFunc(r.warnings, byRule)
	return err
}

// add folds an event. If the profile panics, it counts the panic, and logs the first one of the run.
func (p *Pipeline) add(f *fold, e *unloop.Event, as placement) policy.Decision {
	before := f.unjudged
	d := f.add(e, as)
	if f.unjudged == before {
		return d
	}
	p.opts.Metrics.Unjudged.Inc()
	if f.unjudged == 1 {
		p.opts.Log.Error("the profile panicked at an event; the event is recorded", "run", f.session.Run().ID(), "error", f.cause)
	}
	return d
}

// dropDeleted removes a run that is deleted from memory. Its row is due no more.
func (p *Pipeline) dropDeleted(id string) {
	delete(p.unwritten, id)
	p.drop(id)
}

// drop removes a run from memory without writing its state.
func (p *Pipeline) drop(id string) {
	if r := p.live[id]; r != nil {
		p.used.Remove(r.place)
		p.runBytes -= r.bytes
		p.keptBytes -= int64(r.keptBytes)
		delete(p.live, id)
		p.rowsMissing = p.rowsMissing || p.unwritten[id] != nil
		delete(p.unwritten, id)
	}
}

// describe updates the row with the state of the fold.
func (r *run) describe(profile string) {
	row, s := &r.row, &r.fold.s
	row.Profile = profile
	if row.Name == r.derivedName { // otherwise its sender named it
		row.Name = s.Name
	}
	r.derivedName = s.Name
	row.Status, row.Ended = s.Status, s.Ended
	if s.Events > 0 { // otherwise the row has what the sender reported
		row.Started = s.Started
		if s.Received.After(row.Updated) {
			row.Updated = s.Received
		}
	}
	row.Arrival, row.Bytes = max(row.Arrival, s.Arrival), s.Bytes
	row.Tools, row.Agents, row.Models = s.Tools, s.Agents, s.Models
	row.Metrics = r.fold.metrics()
	row.Health = r.fold.session.Health()
	row.WorstAction = policy.Action(s.WorstAction)
	row.FirstWarningAt, row.UsageAfterWarning = s.FirstWarningAt, r.fold.usageAfterWarning()
	row.Untimed = !s.Timed
	row.Guard, row.UsageAfterStop = s.Guard.shownGuard(), r.fold.usageAfterStop()
	row.Warnings = len(r.warnings)
	row.Preview = store.Preview{Tools: r.fold.busiest(), Novelty: s.Novelty.fractions(), Health: s.Health, Warning: r.worstWarning()}
	row.MeanNovelty, row.SlowestEvent = s.Novelty.mean(), s.SlowestEvent
}
