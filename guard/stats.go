package guard

import "github.com/unloop-ai/unloop/policy"

// Stats count what a guard decided.
type Stats struct {
	Decisions      int            `json:"decisions"`
	Actions        map[string]int `json:"actions"` // by action; Allow is left out
	Codes          map[string]int `json:"codes"`   // by code
	Shadowed       int            `json:"shadowed"`
	DroppedNotices int64          `json:"unheard"`      // notices that a listener was too slow for, or panicked at
	SwarmErrors    int64          `json:"swarm_errors"` // calls that the swarm's store did not count
}

// count counts a decision. The lock is held.
func (g *Guard) count(d Decision) {
	s := &g.stats
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

// Size estimates the bytes that the guard takes in memory.
func (g *Guard) Size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.session.Size() + guardSize
}

// guardSize is about what a guard takes beside its watch, in bytes.
const guardSize = 2 << 10

// Stats returns what was decided so far.
func (g *Guard) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Actions, s.Codes = clone(s.Actions), clone(s.Codes)
	s.DroppedNotices = g.listeners.lost()
	if g.swarm != nil {
		s.SwarmErrors = g.swarm.lost.Load()
	}
	return s
}

func clone(m map[string]int) map[string]int {
	c := make(map[string]int, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
