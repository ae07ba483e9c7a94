package swarm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Bounds is how much a Memory surely remembers: of the swarms, and of the fingerprints of each, those that were used last. It
// never remembers more than twice as many. What was idle longest makes room for what is new.
type Bounds struct {
	Swarms       int `yaml:"swarms" json:"swarms"`
	Fingerprints int `yaml:"fingerprints" json:"fingerprints"`
}

// DefaultBounds returns bounds that suit a process with one swarm as well as a server with many. A swarm that fills them
// takes about 0.4 MiB, and 2.5 MiB if each of its calls is made by MaxWorkers workers.
func DefaultBounds() Bounds { return Bounds{Swarms: 256, Fingerprints: 2048} }

// Validate reports all bounds that are out of range.
func (b Bounds) Validate() error {
	return errors.Join(inRange("swarms", b.Swarms, 1, 1_000_000), inRange("fingerprints", b.Fingerprints, 1, 1_000_000))
}

// Memory is the Store of one process. Record takes O(1) for each call, however much the store remembers (amortised: at times
// a generation is dropped), and allocates nothing but its answer for calls that it knows. Swarms do not wait for one another
// but for the moment it takes to find one: a snapshot of a large swarm holds up no other. A context that is done is refused
// at once; after that, nothing here waits.
type Memory struct {
	bounds  Bounds
	newest  atomic.Pointer[counts] // the swarm that was used last, if it is known: most calls find theirs here
	mu      sync.Mutex             // held to find, add and remove swarms, never while counting
	swarms  generations[string, *counts]
	dropped struct{ swarms, fingerprints atomic.Int64 }
}

var _ Store = (*Memory)(nil)

// NewMemory returns a Memory that knows no swarm. Bounds that are not valid are an error.
func NewMemory(b Bounds) (*Memory, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("bounds of a swarm store: %w", err)
	}
	return &Memory{bounds: b, swarms: generations[string, *counts]{max: b.Swarms}}, nil
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
	if dropped := c.record(calls, after); dropped > 0 {
		m.dropped.fingerprints.Add(int64(dropped))
	}
	return after, nil
}

// Snapshot returns all that m knows of the swarm: see Store. The swarm is as idle as before.
func (m *Memory) Snapshot(ctx context.Context, swarm string) (Snapshot, error) {
	if err := errors.Join(ctx.Err(), Check(swarm, nil)); err != nil {
		return Snapshot{}, fmt.Errorf("saving a swarm: %w", err)
	}
	s := Snapshot{Version: SnapshotVersion, Fingerprints: []Tally{}}
	m.mu.Lock()
	c, ok := m.swarms.get(swarm)
	m.mu.Unlock()
	if ok {
		s.Fingerprints = c.list()
	}
	return s, nil
}

// Restore puts s in place of what m knows of the swarm: see Store. Of a snapshot that is too large for m, a part is dropped,
// idle fingerprints first.
func (m *Memory) Restore(ctx context.Context, swarm string, s Snapshot) error {
	if err := errors.Join(ctx.Err(), Check(swarm, nil), s.Validate()); err != nil {
		return fmt.Errorf("restoring a swarm: %w", err)
	}
	c := newCounts(swarm, m.bounds.Fingerprints)
	m.dropped.fingerprints.Add(int64(c.restore(s)))
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

// find returns the counts of the swarm, which is now young.
func (m *Memory) find(swarm string) *counts {
	if newest := m.newest.Load(); newest != nil && newest.swarm == swarm {
		return newest
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok, dropped := m.swarms.use(swarm)
	if !ok {
		return m.add(newCounts(swarm, m.bounds.Fingerprints))
	}
	m.dropped.swarms.Add(int64(dropped))
	m.newest.Store(c)
	return c
}

// add puts in the counts of a swarm that is not known, and returns them. m is locked. Calls that are just being counted for
// a swarm that is dropped for it, or was cleared or restored, go with that swarm, as if they had come before.
func (m *Memory) add(c *counts) *counts {
	m.dropped.swarms.Add(int64(m.swarms.add(c.swarm, c)))
	m.newest.Store(c)
	return c
}
