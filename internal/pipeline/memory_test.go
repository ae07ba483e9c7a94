package pipeline

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// memory is a store in memory, plain and slow. Like SQLite, an event that changes at its position keeps its row. So Last and Unflushed learn of
// the change only from the row of its run.
type memory struct {
	mu          sync.Mutex
	runs        map[int64]store.Run
	events      map[int64]map[string]store.Event
	firsts      map[store.EventRef]int64 // the first arrivals of events
	warnings    map[int64]map[string]store.Warning
	decisions   map[int64][]store.Decision
	checkpoints map[int64][]store.Checkpoint
	spans       map[string]map[string]store.Span
	traces      map[string]map[int64]time.Time
	flushed     int64
	commits     int
	reads       atomic.Int64 // calls of Events and Known
	fail        error        // of the next commits
	first       int64        // before the first arrival and the first number
}

func newMemory() *memory {
	return &memory{
		runs: map[int64]store.Run{}, events: map[int64]map[string]store.Event{}, warnings: map[int64]map[string]store.Warning{},
		decisions: map[int64][]store.Decision{}, checkpoints: map[int64][]store.Checkpoint{}, spans: map[string]map[string]store.Span{},
		traces: map[string]map[int64]time.Time{}, firsts: map[store.EventRef]int64{},
	}
}

func (m *memory) FirstNumber(time.Time) int64 { return 0 }

func (m *memory) Last(context.Context) (arrival, run int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	arrival, run = m.first, m.first
	for n, events := range m.events {
		run = max(run, n)
		for _, e := range events {
			arrival = max(arrival, m.firsts[store.EventRef{Run: n, ID: e.ID}])
		}
	}
	for n, r := range m.runs {
		run, arrival = max(run, n), max(arrival, r.Arrival)
	}
	return arrival, run, nil
}

func (m *memory) Run(_ context.Context, id string) (*store.Run, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.ID == id {
			return &r, nil
		}
	}
	return nil, nil
}

func (m *memory) Checkpoints(_ context.Context, run int64) ([]store.Checkpoint, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Clone(m.checkpoints[run])
	slices.SortFunc(all, func(a, b store.Checkpoint) int { return a.Position.Compare(b.Position) })
	return all, nil
}

func (m *memory) sorted(run int64) []store.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.Collect(maps.Values(m.events[run]))
	slices.SortFunc(all, func(a, b store.Event) int { return a.Position.Compare(b.Position) })
	return all
}

func (m *memory) Events(_ context.Context, run int64, behind store.Position, each func(*store.Event) error) error {
	m.reads.Add(1)
	for _, e := range m.sorted(run) {
		if e.Position.Compare(behind) > 0 {
			if err := each(&e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *memory) NextEvents(ctx context.Context, run int64, behind store.Position, limit int, each func(*store.Event) error) error {
	full := errors.New("full")
	err := m.Events(ctx, run, behind, func(e *store.Event) error {
		if limit == 0 {
			return full
		}
		limit--
		return each(e)
	})
	if errors.Is(err, full) {
		return nil
	}
	return err
}

func (m *memory) Furthest(_ context.Context, run int64) (at store.Position, err error) {
	if all := m.sorted(run); len(all) > 0 {
		at = all[len(all)-1].Position
	}
	return at, nil
}

func (m *memory) Warnings(_ context.Context, run int64) ([]store.Warning, error) {
	return m.warningsOf(run), nil
}

func (m *memory) Refolding(context.Context) (ids []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.Refold != nil {
			ids = append(ids, r.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func (m *memory) Known(_ context.Context, run int64, ids []string) (map[string]store.Position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads.Add(1)
	known := map[string]store.Position{}
	for _, id := range ids {
		if e, ok := m.events[run][id]; ok {
			known[id] = e.Position
		}
	}
	return known, nil
}

func (m *memory) Spans(_ context.Context, trace string) (spans []store.Span, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.spans[trace] {
		spans = append(spans, s)
	}
	return spans, nil
}

func (m *memory) Idle(_ context.Context, before time.Time, limit int) (ids []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var idle []store.Run
	for _, r := range m.runs {
		if r.Status == store.Running && r.Updated.Before(before) {
			idle = append(idle, r)
		}
	}
	slices.SortFunc(idle, func(a, b store.Run) int { return cmp.Or(a.Updated.Compare(b.Updated), cmp.Compare(a.Number, b.Number)) })
	for _, r := range idle[:min(limit, len(idle))] {
		ids = append(ids, r.ID)
	}
	return ids, nil
}

func (m *memory) Unflushed(context.Context) (ids []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n, events := range m.events {
		for _, e := range events {
			if m.firsts[store.EventRef{Run: n, ID: e.ID}] > m.flushed {
				ids = append(ids, m.runs[n].ID)
				break
			}
		}
	}
	return ids, nil
}

func (m *memory) CommitTogether(ctx context.Context, batches []*store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	has := map[store.EventRef]bool{}
	for _, b := range batches {
		for _, ref := range b.Removed {
			has[ref] = false
		}
		for _, e := range b.Events {
			ref := store.EventRef{Run: e.Run, ID: e.ID}
			_, stored := m.events[e.Run][e.ID]
			if before, changed := has[ref]; changed && before || !changed && stored {
				return store.ErrDuplicate
			}
			has[ref] = true
		}
	}
	for _, b := range batches {
		if _, err := m.commit(b); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Commit(_ context.Context, b *store.Batch) (duplicates []store.EventRef, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.commit(b)
}

func (m *memory) commit(b *store.Batch) (duplicates []store.EventRef, err error) {
	if m.fail != nil {
		return nil, m.fail
	}
	m.commits++
	m.commitSpans(b)
	for _, n := range append(slices.Clone(b.Deleted), b.Emptied...) {
		delete(m.runs, n)
		delete(m.events, n)
		delete(m.warnings, n)
		delete(m.decisions, n)
		delete(m.checkpoints, n)
	}
	for _, r := range b.Runs {
		m.runs[r.Number] = r
	}
	removed := map[store.EventRef]store.Position{}
	for _, ref := range b.Removed {
		if e, ok := m.events[ref.Run][ref.ID]; ok {
			removed[ref] = e.Position
		}
		delete(m.events[ref.Run], ref.ID)
	}
	for _, e := range b.Events {
		if _, ok := m.events[e.Run][e.ID]; ok {
			duplicates = append(duplicates, store.EventRef{Run: e.Run, ID: e.ID})
			continue
		}
		if m.events[e.Run] == nil {
			m.events[e.Run] = map[string]store.Event{}
		}
		m.events[e.Run][e.ID] = e
		ref := store.EventRef{Run: e.Run, ID: e.ID}
		if at, ok := removed[ref]; !ok || at != e.Position {
			m.firsts[ref] = e.Arrival
		}
	}
	if len(b.Analyses) > 0 {
		m.reanalyze(b.Analyses)
	}
	for _, u := range b.Invalidated {
		delete(m.warnings, u.Run)
		m.decisions[u.Run] = slices.DeleteFunc(m.decisions[u.Run], func(d store.Decision) bool { return d.Position.Compare(u.Behind) > 0 })
		m.checkpoints[u.Run] = slices.DeleteFunc(m.checkpoints[u.Run], func(c store.Checkpoint) bool { return c.Position.Compare(u.Behind) > 0 })
	}
	for _, w := range b.Warnings {
		if m.warnings[w.Run] == nil {
			m.warnings[w.Run] = map[string]store.Warning{}
		}
		m.warnings[w.Run][w.ID] = w
	}
	for _, d := range b.Decisions {
		m.decisions[d.Run] = append(m.decisions[d.Run], d)
	}
	m.flushed = max(m.flushed, b.Flushed)
	for _, c := range b.Checkpoints {
		m.checkpoints[c.Run] = append(m.checkpoints[c.Run], c)
	}
	for _, c := range b.Pruned {
		m.checkpoints[c.Run] = slices.DeleteFunc(m.checkpoints[c.Run], func(k store.Checkpoint) bool { return k.Position == c.Position })
	}
	return duplicates, nil
}

// reanalyze writes new analyses of events.
func (m *memory) reanalyze(changed []store.Reanalyzed) {
	analyses := make(map[int64][]byte, len(changed))
	for _, r := range changed {
		analyses[r.Arrival] = r.Analysis
	}
	for _, events := range m.events {
		for id, e := range events {
			if analysis, ok := analyses[e.Arrival]; ok {
				e.Analysis = analysis
				events[id] = e
			}
		}
	}
}

// commitSpans writes what a batch tells of spans and of the runs of traces.
func (m *memory) commitSpans(b *store.Batch) {
	for _, s := range b.Spans {
		if m.spans[s.Trace] == nil {
			m.spans[s.Trace] = map[string]store.Span{}
		}
		m.spans[s.Trace][s.ID] = s
	}
	for _, x := range b.Traces {
		if m.traces[x.Trace] == nil {
			m.traces[x.Trace] = map[int64]time.Time{}
		}
		m.traces[x.Trace][x.Run] = x.Received
	}
	for _, x := range b.Left {
		delete(m.traces[x.Trace], x.Run)
	}
	for _, n := range b.Deleted {
		for trace, runs := range m.traces {
			if _, ok := runs[n]; ok && !sharedBy(runs, n) {
				delete(m.spans, trace)
				delete(m.traces, trace)
			}
		}
	}
	for _, n := range append(slices.Clone(b.Deleted), b.Emptied...) {
		for _, runs := range m.traces {
			delete(runs, n)
		}
	}
}

// sharedBy reports whether a trace of these runs has events in another than the one.
func sharedBy(runs map[int64]time.Time, run int64) bool {
	for n := range runs {
		if n != 0 && n != run {
			return true
		}
	}
	return false
}

func (m *memory) SharedTraces(_ context.Context, run int64) (shared []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for trace, runs := range m.traces {
		if _, ok := runs[run]; ok && sharedBy(runs, run) {
			shared = append(shared, trace)
		}
	}
	return shared, nil
}

// warningsOf returns the run's warnings, sorted.
func (m *memory) warningsOf(run int64) []store.Warning {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []store.Warning
	for _, w := range m.warnings[run] {
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b store.Warning) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return all
}

var errFull = errors.New("disk full")
