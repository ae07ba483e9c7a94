package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unique"

	"github.com/unloop-ai/unloop"
)

// Bounds is how much a Memory remembers. What was idle longest makes room for what is new.
type Bounds struct {
	Swarms       int `yaml:"swarms" json:"swarms"`             // at once
	Fingerprints int `yaml:"fingerprints" json:"fingerprints"` // at once, of each swarm
}

// DefaultBounds returns bounds that suit a process with a few swarms as well as a server with many. A swarm that fills them
// takes about 1 MiB, and 4 MiB if each of its calls is made by MaxWorkers workers.
func DefaultBounds() Bounds { return Bounds{Swarms: 256, Fingerprints: 4096} }

// Validate reports all bounds that are out of range.
func (b Bounds) Validate() error {
	return errors.Join(inRange("swarms", b.Swarms, 1, 1_000_000), inRange("fingerprints", b.Fingerprints, 1, 1_000_000))
}

// Memory is the Store of one process. Record takes O(1) for each call, however much the store remembers, and allocates
// nothing but its answer for calls that it knows. Swarms do not wait for one another but for the moment it takes to find
// one: a snapshot of a large swarm holds up no other. A context that is done is refused at once; after that, nothing here
// waits.
type Memory struct {
	bounds  Bounds
	newest  atomic.Pointer[counts] // the swarm that was used last, if it is known: most calls find theirs here
	mu      sync.Mutex             // held to find, add and remove swarms, never while counting
	swarms  recent[string, *counts]
	dropped struct{ swarms, fingerprints atomic.Int64 }
}

var _ Store = (*Memory)(nil)

// NewMemory returns a Memory that knows no swarm. Bounds that are not valid are an error.
func NewMemory(b Bounds) (*Memory, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("bounds of a swarm store: %w", err)
	}
	m := &Memory{bounds: b}
	m.swarms.bound(b.Swarms)
	return m, nil
}

// Dropped is how much a Memory has forgotten for want of room since it was made. Counts of what comes back begin anew.
type Dropped struct {
	Swarms       int64 `json:"swarms"`       // whole
	Fingerprints int64 `json:"fingerprints"` // of swarms that were kept at the time
}

// Dropped returns how much was forgotten.
func (m *Memory) Dropped() Dropped {
	return Dropped{m.dropped.swarms.Load(), m.dropped.fingerprints.Load()}
}

// Record counts the calls: see Store. The calls of a batch are counted without others in between.
func (m *Memory) Record(ctx context.Context, swarm string, calls []Call) ([]Count, error) {
	if err := errors.Join(ctx.Err(), Check(swarm, calls)); err != nil {
		return nil, fmt.Errorf("counting %d calls of a swarm: %w", len(calls), err)
	}
	if len(calls) == 0 {
		return nil, nil
	}
	c := m.find(swarm)
	after := make([]Count, len(calls))
	workers := make([]unique.Handle[string], 0, 8)
	for k := range calls {
		workers = append(workers, unique.Make(calls[k].Worker))
	}
	c.lock()
	for k := range calls {
		if calls[k].Fingerprint != 0 {
			after[k] = m.count(c, &calls[k], workers[k])
		}
	}
	c.mu.Unlock()
	return after, nil
}

// Snapshot returns all that m knows of the swarm: see Store. The swarm is as idle as before.
func (m *Memory) Snapshot(ctx context.Context, swarm string) (Snapshot, error) {
	if err := errors.Join(ctx.Err(), Check(swarm, nil)); err != nil {
		return Snapshot{}, fmt.Errorf("saving a swarm: %w", err)
	}
	s := Snapshot{Version: SnapshotVersion, Fingerprints: []Tally{}}
	if c := m.peek(swarm); c != nil {
		s.Fingerprints = c.list()
	}
	return s, nil
}

// Restore puts s in place of what m knows of the swarm: see Store. Of a snapshot that is too large for m, the fingerprints
// that were idle longest are dropped.
func (m *Memory) Restore(ctx context.Context, swarm string, s Snapshot) error {
	if err := errors.Join(ctx.Err(), Check(swarm, nil), s.Validate()); err != nil {
		return fmt.Errorf("restoring a swarm: %w", err)
	}
	c := m.newCounts(swarm)
	over := max(0, len(s.Fingerprints)-m.bounds.Fingerprints)
	m.dropped.fingerprints.Add(int64(over))
	for k := range s.Fingerprints[over:] {
		from := &s.Fingerprints[over+k]
		t := tally{calls: from.Calls, tool: toolName(from.Tool)}
		for _, worker := range from.Workers {
			t.workers = append(t.workers, unique.Make(worker))
		}
		c.tallies.add(from.Fingerprint, t)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swarms.remove(swarm)
	m.add(c)
	return nil
}

// Clear forgets the swarm: see Store.
func (m *Memory) Clear(ctx context.Context, swarm string) error {
	if err := errors.Join(ctx.Err(), Check(swarm, nil)); err != nil {
		return fmt.Errorf("clearing a swarm: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swarms.remove(swarm)
	m.newest.Store(nil)
	return nil
}

// find returns the counts of the swarm, which is now the newest.
func (m *Memory) find(swarm string) *counts {
	if newest := m.newest.Load(); newest != nil && newest.swarm == swarm {
		return newest
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.swarms.use(swarm); c != nil {
		m.newest.Store(*c)
		return *c
	}
	return m.add(m.newCounts(swarm))
}

// peek returns the counts of the swarm, or nil. The swarm is as idle as before.
func (m *Memory) peek(swarm string) *counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.swarms.peek(swarm); c != nil {
		return *c
	}
	return nil
}

// add puts in the counts of a swarm that is not known, and returns them. m is locked. Calls that are just being counted for
// a swarm that is dropped for it, or was cleared or restored, go with that swarm, as if they had come before.
func (m *Memory) add(c *counts) *counts {
	if _, dropped := m.swarms.add(c.swarm, c); dropped {
		m.dropped.swarms.Add(1)
	}
	m.newest.Store(c)
	return c
}

// counts is what a Memory knows of one swarm.
type counts struct {
	swarm   string
	mu      sync.Mutex
	tallies recent[unloop.Hash, tally]
}

func (m *Memory) newCounts(swarm string) *counts {
	c := &counts{swarm: strings.Clone(swarm)}
	c.tallies.bound(m.bounds.Fingerprints)
	return c
}

// tally is what it knows of one fingerprint. Names are unique values: they are one pointer each, kept once in the process.
type tally struct {
	calls   int
	tool    unique.Handle[string]
	workers []unique.Handle[string] // in the order of their first calls, at most MaxWorkers
}

// count counts one call. c is locked.
func (m *Memory) count(c *counts, call *Call, worker unique.Handle[string]) Count {
	t := c.tallies.use(call.Fingerprint)
	if t == nil {
		var dropped bool
		if t, dropped = c.tallies.add(call.Fingerprint, tally{tool: toolName(call.Tool)}); dropped {
			m.dropped.fingerprints.Add(1)
		}
	}
	t.calls++
	if t.tool.Value() != call.Tool {
		t.tool = toolName(call.Tool)
	}
	if len(t.workers) < MaxWorkers && !slices.Contains(t.workers, worker) {
		t.workers = append(t.workers, worker)
	}
	return Count{Calls: t.calls, Workers: len(t.workers), Tool: t.tool.Value()}
}

// list returns the tallies as they stand in a snapshot.
func (c *counts) list() []Tally {
	c.mu.Lock()
	list := make([]Tally, 0, len(c.tallies.nodes))
	for fingerprint, t := range c.tallies.all {
		workers := make([]string, len(t.workers))
		for k, worker := range t.workers {
			workers[k] = worker.Value()
		}
		list = append(list, Tally{Fingerprint: fingerprint, Tool: t.tool.Value(), Calls: t.calls, Workers: workers})
	}
	c.mu.Unlock()
	for k := range list {
		slices.Sort(list[k].Workers)
	}
	return list
}

// toolName returns what is kept of a tool's name: models make names up, so it is cut rather than refused.
func toolName(name string) unique.Handle[string] {
	return unique.Make(strings.ToValidUTF8(name[:min(len(name), MaxName)], ""))
}

func (c *counts) lock() {
	for range 100 {
		if c.mu.TryLock() {
			return
		}
	}
	c.mu.Lock()
}
