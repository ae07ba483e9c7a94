package pipeline

import (
	"container/list"
	"context"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// checkpointEvery is after how many events a run's state is written, so that what comes late needs no more than that to be
// folded again.
const checkpointEvery = 4096

// run is a run in memory. It is what the store's events of the run come to: where that is in doubt, it is dropped and read
// again.
type run struct {
	row         store.Run
	fold        *fold
	warnings    []store.Warning    // as recorded
	checkpoints []store.Checkpoint // at most the last two, without their states
	used        time.Time
	bytes       int64      // in memory, about
	whole       []recalled // the latest events, where not all of their content is stored
	wholeBytes  int
	bare        bool // warnings and decisions quote no content
	place       *list.Element
	auto        string    // the name that its events give it
	stored      bool      // the store knows it
	written     time.Time // when its row was
	settled     bool      // it was folded under the profile as it is now set
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
		p.number++
		return &run{
			row:  store.Run{Number: p.number, ID: id, Project: p.opts.Project, Status: store.Running},
			fold: newFold(p.opts.Profile, id), settled: true, bare: p.opts.Content == NoContent,
		}, nil
	}
	r := &run{row: *row, stored: true, settled: true, bare: p.opts.Content == NoContent}
	if err := p.takeUp(ctx, r, nil); err != nil {
		return nil, err
	}
	r.warnings, r.auto = warningsOf(r), r.fold.s.Name
	return r, nil
}

// takeUp folds what the store has of the run, from the latest checkpoint before a position (nil for the latest of all). Where
// before is given, only the checkpoint is taken up.
func (p *Pipeline) takeUp(ctx context.Context, r *run, before *store.Position) error {
	known, err := p.opts.Store.Checkpoints(ctx, r.row.Number)
	if err != nil {
		return err
	}
	r.fold, r.checkpoints = nil, nil
	for _, c := range known {
		if before != nil && c.Position.Compare(*before) >= 0 {
			break
		}
		f := restore(p.opts.Profile, p.holds, c.State)
		if f == nil {
			r.settled = false
			r.fold, r.checkpoints = nil, nil
			break
		}
		r.fold = f
		c.State = nil
		r.checkpoints = append(r.checkpoints, c)
	}
	if r.fold == nil {
		r.fold = newFold(p.opts.Profile, r.row.ID)
	}
	if before != nil {
		return nil
	}
	return p.opts.Store.Events(ctx, r.row.Number, r.fold.s.Furthest, func(e *store.Event) error {
		event, err := store.Decode(e.Body)
		if err != nil {
			return err
		}
		r.fold.add(event, placeOf(e))
		return nil
	})
}

// drop puts a run out of memory without a word.
func (p *Pipeline) drop(id string) {
	if r := p.live[id]; r != nil {
		p.used.Remove(r.place)
		p.runBytes -= r.bytes
		delete(p.live, id)
		p.behind = p.behind || p.unwritten[id] != nil
		delete(p.unwritten, id)
	}
}

// describe brings the row up to what was folded.
func (r *run) describe(profile string) {
	row, s := &r.row, &r.fold.s
	row.Profile = profile
	if row.Name == r.auto { // else its sender named it
		row.Name = s.Name
	}
	r.auto = s.Name
	row.Status, row.Started, row.Ended = s.Status, s.Started, s.Ended
	row.Arrival, row.Updated, row.Bytes = s.Arrival, s.Received, s.Bytes
	row.Tools = s.Tools
	row.Metrics = r.fold.metrics()
	row.Health = r.fold.watch.Health()
	row.Worst = policyAction(s.Worst)
	row.Warned, row.After = s.Warned, r.fold.after()
	row.Warnings = len(r.warnings)
	row.Glance, row.Slowest = store.Glance{Tools: r.fold.busiest(), News: s.News.shares(), Health: s.Course}, s.Slowest
}
