package guard

import (
	"maps"

	"github.com/unloop-ai/unloop/policy"
)

// Stats are counts of the decisions of a guard.
type Stats struct {
	Decisions      int            `json:"decisions"`       // all decisions, Allow included
	Actions        map[string]int `json:"actions"`         // by action, in shadow mode by the intended one; without Allow
	Codes          map[string]int `json:"codes"`           // by code; without Allow
	Shadowed       int            `json:"shadowed"`        // decisions that shadow mode turned into Allow
	DroppedNotices int64          `json:"dropped_notices"` // notices that a listener was too slow for or panicked at
	SwarmErrors    int64          `json:"swarm_errors"`    // calls that the store of the swarm did not count

	StoreErrors   int64 `json:"store_errors,omitzero"`   // events that the store of a Shared did not save, and invalid snapshots in it
	DroppedEvents int64 `json:"dropped_events,omitzero"` // events at which Options.Events panicked

	SecondOpinions OpinionStats `json:"second_opinions,omitzero"`
}

// conclude counts a decision, and keeps the error of one that halts the run. The caller holds the lock.
func (g *Guard) conclude(d Decision) {
	if halt := d.Err(); halt != nil {
		g.halted = halt
	}
	g.stats.count(d)
}

// count counts a decision.
func (s *Stats) count(d Decision) {
	s.Decisions++
	action := max(d.Action, d.Shadow)
	if action == policy.Allow {
		return
	}
	if s.Actions == nil {
		s.Actions = make(map[string]int)
	}
	if s.Codes == nil {
		s.Codes = make(map[string]int)
	}
	s.Actions[action.String()]++
	s.Codes[d.Code]++
	if d.Shadow != policy.Allow {
		s.Shadowed++
	}
}

// Stats returns the counts so far. The caller owns the maps.
func (g *Guard) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Actions, s.Codes = maps.Collect(maps.All(s.Actions)), maps.Collect(maps.All(s.Codes)) // empty instead of nil
	s.DroppedNotices, s.DroppedEvents = g.listeners.dropped.Load(), g.droppedEvents
	if g.swarm != nil {
		s.SwarmErrors = g.swarm.storeErrors.count.Load()
	}
	if g.shared != nil {
		s.StoreErrors = g.shared.storeErrors.count.Load()
	}
	return s
}
