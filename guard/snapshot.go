package guard

import (
	"encoding/json"
	"fmt"

	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/profile"
)

// snapshotVersion is the version of the JSON of a snapshot.
const snapshotVersion = 2

// kept is the JSON of a snapshot.
type kept struct {
	Version int             `json:"version"`
	Next    int             `json:"next"`
	Stats   Stats           `json:"stats"`
	Session json.RawMessage `json:"session"`
}

// Snapshot returns the complete state of the guard as JSON. A guard that Restore makes of it continues exactly as this one would.
// Listeners, the counts of the swarm and the usage of the project are not included. The error wraps ErrFailed if the guard has failed. A
// custom policy whose state cannot be encoded is also an error.
func (g *Guard) Snapshot() (data []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed != nil {
		return nil, fmt.Errorf("write a snapshot: %w", g.failed)
	}
	defer caught("write a snapshot", &err) // the state of a custom policy may panic in its own JSON methods
	session, err := g.session.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("write a snapshot: %w", err)
	}
	return json.Marshal(kept{snapshotVersion, g.next, g.stats, session})
}

// AppendBinary appends the state of Snapshot in a binary form, which is smaller and ten times as fast to write. Only a program
// that was built with the same version of this module can read it.
func (g *Guard) AppendBinary(to []byte) (_ []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failed != nil {
		return to, fmt.Errorf("write a snapshot: %w", g.failed)
	}
	defer caught("write a snapshot", &err) // the state of a custom policy may panic in its own JSON methods
	session, err := g.session.AppendBinary(nil)
	if err != nil {
		return to, fmt.Errorf("write a snapshot: %w", err)
	}
	return snapshot.AppendBinary(to, kept{snapshotVersion, g.next, g.stats, session})
}

// Restore makes a guard from a snapshot under the same profile and settings. The data may come from an untrusted source:
// Restore returns an error if it exceeds 16 MiB or if no guard can have written it. A forged snapshot can still make the
// guard allow or block any call. A program that accepts snapshots from the agents that it guards must sign them.
func Restore(p *profile.Profile, o Options, data []byte) (g *Guard, err error) {
	defer caught("restore a guard", &err)
	var s kept
	if err := snapshot.Decode(data, &s); err != nil {
		return nil, fmt.Errorf("restore a guard: %w", err)
	}
	if s.Version != snapshotVersion {
		return nil, fmt.Errorf("restore a guard: the snapshot has version %d; this program reads version %d", s.Version, snapshotVersion)
	}
	session, err := p.Restore(s.Session)
	if err != nil {
		return nil, fmt.Errorf("restore a guard: %w", err)
	}
	if err := s.validate(session.Run().Metrics().Events); err != nil {
		return nil, fmt.Errorf("restore a guard: %w", err)
	}
	controls := o.Controls
	o.Controls = nil // until the state is there
	g = New(p, o)
	g.session, g.next, g.stats = session, s.Next, s.Stats
	g.second.keep(session)
	g.listen(controls)
	return g, nil
}

// validate reports the first value that no guard with the given number of events can have written.
func (s *kept) validate(events int) error {
	var c snapshot.Check
	c.That(s.Next == events, "next is %d after %d events", s.Next, events)
	c.Part("stats", s.Stats.validate(events))
	return c.Err()
}

// maxCodes bounds the codes in a snapshot. A profile has about ten.
const maxCodes = 1024

func (s *Stats) validate(events int) error {
	var c snapshot.Check
	c.Count("decisions", s.Decisions, events)
	c.Count("shadowed", s.Shadowed, s.Decisions)
	c.That(s.DroppedNotices >= 0 && s.SwarmErrors >= 0, "dropped_notices and swarm_errors are %d and %d, want 0 or more", s.DroppedNotices, s.SwarmErrors)
	c.That(s.StoreErrors >= 0, "store_errors is %d, want 0 or more", s.StoreErrors)
	o := &s.SecondOpinions
	c.That(min(o.Asked, o.Answered, o.Late, o.Failed) >= 0, "second_opinions has a negative count")
	c.Count("number of actions", len(s.Actions), int(policy.Halt))
	c.Count("number of codes", len(s.Codes), maxCodes)
	for _, counts := range []map[string]int{s.Actions, s.Codes} {
		for name, n := range counts {
			c.Count(fmt.Sprintf("%.100q", name), n, s.Decisions)
		}
	}
	return c.Err()
}
