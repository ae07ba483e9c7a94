package guard

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/swarm"
)

// swarmDeadline is how long a guard waits for the swarm's store at each call.
const swarmDeadline = 20 * time.Millisecond

// Swarm joins a guard to the counts that the workers of one goal share. If the store is slow or gone, the guard goes on
// alone: the call is not counted, Stats.SwarmErrors says how often that was, and Lost is told the first time.
type Swarm struct {
	Store   swarm.Store
	Name    string       // of the goal
	Worker  string       // of this run
	Limits  swarm.Limits // what makes a loop; the profile's if zero
	OnError func(error)  // told of the first error; nil for nobody

	lost atomic.Int64
}

// record counts a call and returns the count of its kind over all workers.
func (s *Swarm) record(tool string, target unloop.Hash) swarm.Count {
	ctx, cancel := context.WithTimeout(context.Background(), swarmDeadline)
	defer cancel()
	counts, err := s.Store.Record(ctx, s.Name, []swarm.Call{{Fingerprint: target, Tool: tool, Worker: s.Worker}})
	if err == nil && len(counts) == 1 {
		return counts[0]
	}
	if s.lost.Add(1) == 1 && s.OnError != nil {
		s.OnError(fmt.Errorf("count the calls of swarm %s: %w", s.Name, err))
	}
	return swarm.Count{}
}

// joinSwarm makes a warning of a loop of the whole swarm, unless the run's own decision is more severe. The call that was counted
// began at the event at; others may have begun since. The lock is held.
func (g *Guard) joinSwarm(d Decision, c swarm.Count, tool string, at unloop.EventRef) Decision {
	limits := g.swarm.Limits
	if limits == (swarm.Limits{}) {
		limits = swarm.Limits(g.profile.Swarm())
	}
	if limits == (swarm.Limits{}) {
		limits = swarm.DefaultLimits()
	}
	if max(d.Action, d.Shadow) > policy.Allow || !limits.Loop(c) {
		return d
	}
	f := detect.Global(tool, c.Calls, c.Workers, at)
	own := policy.Decision{Action: policy.Warn, Code: f.Rule, Count: c.Calls, Findings: []unloop.Finding{f}}
	own.Message = g.profile.Nudge(&own)
	return newDecision(own, tool, g.profile)
}
