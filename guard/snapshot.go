package guard

import (
	"encoding/json"
	"fmt"

	"github.com/unloop-ai/unloop/profile"
)

// snapshotVersion is that of a guard's snapshot.
const snapshotVersion = 1

type snapshot struct {
	Version int             `json:"version"`
	Next    int             `json:"next"`
	Stats   Stats           `json:"stats"`
	Watch   json.RawMessage `json:"watch"`
}

// Snapshot writes all that a Restore needs to go on exactly where the guard is, as JSON. Listeners and the swarm's counts are
// no part of it.
func (g *Guard) Snapshot() ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	watch, err := json.Marshal(g.watch)
	if err != nil {
		return nil, fmt.Errorf("write a snapshot: %w", err)
	}
	return json.Marshal(snapshot{snapshotVersion, g.next, g.stats, watch})
}

// Restore makes a guard of a snapshot that was taken under the same profile and settings.
func Restore(p *profile.Profile, o Options, data []byte) (*Guard, error) {
	var s snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("restore a guard: %w", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("restore a guard: the snapshot has version %d; this program reads version %d", s.Version, snapshotVersion)
	}
	watch, err := p.Restore(s.Watch)
	if err != nil {
		return nil, fmt.Errorf("restore a guard: %w", err)
	}
	g := New(p, o)
	g.watch, g.next, g.stats = watch, s.Next, s.Stats
	return g, nil
}
