// Package swarm counts the calls that the workers of one goal make, so that a loop shows that no worker sees alone: ten
// workers that try the same thing twice each. It stands beside the arrow from events to decisions: a guard hands it the
// fingerprint of each call of its run, and makes a finding of a count that is a loop (Limits). Nothing here reads a clock.
//
// Memory is the Store of one process. A store that several processes share implements the same interface over a network
// and passes swarmtest.Conform.
package swarm

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

// Bounds that hold for every Store.
const (
	MaxWorkers = 64  // workers that are told apart for one fingerprint; more count as that many
	MaxName    = 256 // bytes of a swarm's or worker's name, and of what is kept of a tool's
)

// Call is one call of a tool by one worker.
type Call struct {
	Fingerprint unloop.Hash // what counts as the same call: a step's Target, as a rule; 0 is not counted
	Tool        string      // for people
	Worker      string      // who made it: a run's id, as a rule
}

// Count is how often a swarm made one call. The zero Count means that it is not counted.
type Count struct {
	Calls   int    // in sum; at least that many, where the store has forgotten or lost some
	Workers int    // that made them; MaxWorkers means that many or more
	Tool    string // of the latest of them
}

// Store counts the calls of swarms. It is safe for concurrent use.
//
// A guard does not depend on it. It gives Record a context with a short deadline; on an error, the deadline's included, it
// goes on with the counts of its own run, says so once, and asks again at its next call. It does not send the same calls a
// second time, since they may have been counted: a lost call delays a verdict, a doubled one invents it. So a Store
// returns as soon as the context is done, and returns an error rather than a guess.
//
// A name of a swarm or of a worker is UTF-8 and has at most MaxName bytes; another is an error. Of a tool's name, which a model
// may have made up, the first MaxName bytes are kept, without those that are not UTF-8.
type Store interface {
	// Record counts the calls in their order. It returns for each of them the count of its fingerprint just after it,
	// whatever other workers record at the same time: no two calls of a fingerprint are told the same number. A batch
	// that is refused (see Check) leaves no trace. Record keeps no reference to calls.
	Record(ctx context.Context, swarm string, calls []Call) ([]Count, error)

	// Snapshot returns all that the store knows of the swarm: of one that it does not know, an empty Snapshot.
	Snapshot(ctx context.Context, swarm string) (Snapshot, error)

	// Restore puts the snapshot in place of what the store knows of the swarm, which goes on where it was. A snapshot
	// that is not valid is an error and changes nothing.
	Restore(ctx context.Context, swarm string, s Snapshot) error

	// Clear forgets the swarm.
	Clear(ctx context.Context, swarm string) error
}

// Check reports why a Store must refuse to record the calls, if it must. It is for those who write a Store.
func Check(swarm string, calls []Call) error {
	if err := CheckName(swarm); err != nil {
		return fmt.Errorf("swarm: %w", err)
	}
	for k := range calls {
		if err := CheckName(calls[k].Worker); err != nil {
			return fmt.Errorf("worker of call %d: %w", k, err)
		}
	}
	return nil
}

// CheckName reports what is wrong with the name of a swarm or of a worker.
func CheckName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("the name has %d bytes, over %d", len(name), MaxName)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("the name %q is not UTF-8", name)
	}
	return nil
}

// Limits is how many calls by how many workers make a loop of the whole swarm.
type Limits struct {
	Calls   int `yaml:"calls" json:"calls"`     // in sum, at least
	Workers int `yaml:"workers" json:"workers"` // that made them, at least
}

// DefaultLimits returns the published limits: ten calls by two workers.
func DefaultLimits() Limits { return Limits{Calls: 10, Workers: 2} }

// Validate reports all limits that are out of range.
func (l Limits) Validate() error {
	return errors.Join(inRange("calls", l.Calls, 2, 1_000_000), inRange("workers", l.Workers, 1, MaxWorkers))
}

// Loop reports whether the count is one of a swarm that loops.
func (l Limits) Loop(c Count) bool { return c.Calls >= l.Calls && c.Workers >= l.Workers }

func inRange(field string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s is %d: it must be from %d to %d", field, value, low, high)
	}
	return nil
}
