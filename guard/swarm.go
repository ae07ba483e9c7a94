package guard

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
	"github.com/unloop-ai/unloop/swarm"
)

// swarmDeadline is how long a guard waits for the store of a swarm at each call.
const swarmDeadline = 20 * time.Millisecond

// Swarm connects a guard to the counts that the workers of one goal share. At each call a guard waits for the store until
// the context of Before is done, and at most 20 ms. If the store does not answer in time or returns an error, the guard
// decides without it, the call may be missing from the counts, and Stats.SwarmErrors is incremented. OnError receives the
// first error, except those after the caller's own context was done. A Swarm belongs to one guard.
type Swarm struct {
	Store   swarm.Store  // the counts
	Name    string       // the name of the goal
	Worker  string       // the name of the worker, usually the id of the run
	Limits  swarm.Limits // the limits of a loop; zero means those of the profile, else swarm.DefaultLimits
	OnError func(error)  // receives the first error of the store; may be nil

	storeErrors storeErrors
}

// record counts a call and returns its count over all workers.
func (s *Swarm) record(ctx context.Context, tool string, target unloop.Hash) swarm.Count {
	within, cancel := context.WithTimeout(ctx, swarmDeadline)
	defer cancel()
	counts, err := s.add(within, swarm.Call{Fingerprint: target, Tool: tool, Worker: s.Worker})
	if err == nil && len(counts) == 1 {
		return counts[0]
	}
	if err == nil {
		err = fmt.Errorf("the store returned %d counts, want 1", len(counts))
	}
	s.storeErrors.note(ctx, fmt.Errorf("count the calls of swarm %s: %w", s.Name, err), s.OnError)
	return swarm.Count{}
}

// add records a call in the store, whose panic is an error.
func (s *Swarm) add(ctx context.Context, c swarm.Call) (_ []swarm.Count, err error) {
	defer caught("record", &err)
	return s.Store.Record(ctx, s.Name, []swarm.Call{c})
}

// joinSwarm returns a warning if the whole swarm loops and the run's own decision is Allow, and d otherwise. The counted call
// started at the event at, and other calls may have started since. The caller holds the lock.
func (g *Guard) joinSwarm(d Decision, c swarm.Count, tool string, at unloop.EventRef) Decision {
	limits := cmp.Or(g.swarm.Limits, swarm.Limits(g.profile.Swarm()), swarm.DefaultLimits())
	if max(d.Action, d.Shadow) > policy.Allow || !limits.Loop(c) {
		return d
	}
	f := detect.Global(tool, c.Calls, c.Workers, at)
	own := policy.Decision{Action: policy.Warn, Code: f.Rule, Count: c.Calls, Findings: []unloop.Finding{f}}
	own.Message = g.profile.Nudge(&own)
	return newDecision(own, tool, g.profile)
}
