package swarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/unloop-ai/unloop/internal/boundedmap"
)

// Bounds is the capacity of a Memory. It is guaranteed to keep that many of the most recently used swarms, and of the
// fingerprints of each. It keeps at most twice as many and evicts those that were idle longest.
type Bounds struct {
	Swarms       int `yaml:"swarms" json:"swarms"`             // 1 to 1,000,000
	Fingerprints int `yaml:"fingerprints" json:"fingerprints"` // of each swarm, 1 to 1,000,000
}

// DefaultBounds returns 256 swarms of 2048 fingerprints. A swarm with that many fingerprints takes about 0.4 MiB, and 2.5 MiB
// if MaxWorkers workers made each of its calls.
func DefaultBounds() Bounds { return Bounds{Swarms: 256, Fingerprints: 2048} }

// Validate returns an error that joins all bounds out of range.
func (b Bounds) Validate() error {
	return errors.Join(inRange("swarms", b.Swarms, 1, 1_000_000), inRange("fingerprints", b.Fingerprints, 1, 1_000_000))
}

// Memory is a Store within one process. Record takes amortised O(1) for each call. For calls that it knows, it allocates only
// the result. Swarms share a lock only to look up a swarm, so a snapshot of a large swarm does not block the others. Each
// method checks the context once, at the beginning.
type Memory struct {
	bounds  Bounds
	newest  atomic.Pointer[counts] // the most recently used swarm, which serves most calls; may be nil
	mu      sync.Mutex             // held to look up, add and remove swarms, never while counting
	swarms  boundedmap.Map[string, *counts]
	dropped struct{ swarms, fingerprints atomic.Int64 }
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty Memory. Invalid bounds are an error.
func NewMemory(b Bounds) (*Memory, error) {
	if err := b.Validate(); err != nil {
		return nil, fmt.Errorf("bounds of a swarm store: %w", err)
	}
	return &Memory{bounds: b, swarms: boundedmap.Map[string, *counts]{Max: b.Swarms}}, nil
}

// Dropped is how much a Memory has evicted since it was made. The count of an evicted call starts from 0 again.
type Dropped struct {
	Swarms       int64 `json:"swarms"`       // swarms with all their fingerprints
	Fingerprints int64 `json:"fingerprints"` // fingerprints of swarms that were not evicted
}

// Dropped returns how much was evicted.
func (m *Memory) Dropped() Dropped {
	return Dropped{m.dropped.swarms.Load(), m.dropped.fingerprints.Load()}
}

// Record counts the calls: see Store. The calls of a batch are counted atomically.
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

// Snapshot returns the counts of the swarm: see Store. It does not count as a use of the swarm.
func (m *Memory) Snapshot(ctx context.Context, swarm string) ([]byte, error) {
	if err := errors.Join(ctx.Err(), Check(swarm, nil)); err != nil {
		return nil, fmt.Errorf("saving a swarm: %w", err)
	}
	s := Snapshot{Version: SnapshotVersion, Fingerprints: []Tally{}}
	m.mu.Lock()
	c, ok := m.swarms.Get(swarm)
	m.mu.Unlock()
	if ok {
		s.Fingerprints = c.list()
	}
	return json.Marshal(s)
}

// Restore replaces the counts of the swarm: see Store. If the snapshot exceeds the bounds, a part of it is dropped, idle
// fingerprints first.
func (m *Memory) Restore(ctx context.Context, swarm string, data []byte) error {
	s, err := ParseSnapshot(data)
	if err := errors.Join(ctx.Err(), Check(swarm, nil), err); err != nil {
		return fmt.Errorf("restoring a swarm: %w", err)
	}
	c := newCounts(swarm, m.bounds.Fingerprints)
	m.dropped.fingerprints.Add(int64(c.restore(s)))
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swarms.Remove(swarm)
	m.add(c)
	return nil
}

// Clear removes the counts of the swarm: see Store.
func (m *Memory) Clear(ctx context.Context, swarm string) error {
	if err := errors.Join(ctx.Err(), Check(swarm, nil)); err != nil {
		return fmt.Errorf("clearing a swarm: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.swarms.Remove(swarm)
	m.newest.Store(nil)
	return nil
}

// find returns the counts of the swarm and marks it as used.
func (m *Memory) find(swarm string) *counts {
	if newest := m.newest.Load(); newest != nil && newest.swarm == swarm {
		return newest
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok, dropped := m.swarms.Use(swarm)
	if !ok {
		return m.add(newCounts(swarm, m.bounds.Fingerprints))
	}
	m.dropped.swarms.Add(int64(dropped))
	m.newest.Store(c)
	return c
}

// add adds and returns the counts of an unknown swarm. The caller holds the lock. Concurrent calls of a swarm that is evicted,
// cleared or restored may be counted in the old counts, as if they had been earlier.
func (m *Memory) add(c *counts) *counts {
	m.dropped.swarms.Add(int64(m.swarms.Set(c.swarm, c)))
	m.newest.Store(c)
	return c
}
