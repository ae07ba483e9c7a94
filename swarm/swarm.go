// Package swarm counts equal calls over all workers of one goal. It shows loops that no single run shows, for example ten
// workers that each try the same call twice. A guard records the fingerprint of each call of its run, and makes a finding of
// a count that reaches the Limits. Nothing here reads a clock.
//
// Memory is the Store within one process. A store that several processes share implements the same interface over a network.
// Package swarmtest tests that a Store conforms.
package swarm

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

// The bounds of every Store.
const (
	MaxWorkers = 64  // maximum number of distinct workers that are counted for one fingerprint
	MaxName    = 256 // maximum bytes of the name of a swarm or worker, and of what is kept of a tool's name
)

// Call is one call of a tool by one worker.
type Call struct {
	Fingerprint unloop.Hash // equal for equal calls, usually Step.TargetHash; 0 is not counted
	Tool        string      // the name of the tool, for people
	Worker      string      // the caller, usually the id of a run
}

// Count is the number of equal calls in a swarm. The zero Count means that the call was not counted.
type Count struct {
	Calls   int    // calls of all workers; a lower bound if the store has evicted or lost some
	Workers int    // distinct workers that made them; MaxWorkers means that many or more
	Tool    string // the tool of the latest call
}

// Store counts the calls of swarms. It is safe for concurrent use.
//
// A guard works without the store. It calls Record with a context that has a short deadline. On an error, which includes the
// deadline, it uses the counts of its own run and calls Record again at its next call. It does not retry the failed calls,
// because they may have been counted: a lost call delays a verdict, and a duplicate causes a false one. A Store must
// therefore return as soon as the context is done, and return an error instead of an estimate.
//
// The name of a swarm or of a worker must be UTF-8 of at most MaxName bytes. Any other name is an error. The name of a tool
// may come from a model, so any name is accepted: a Store keeps the first MaxName bytes, without invalid UTF-8.
type Store interface {
	// Record counts the calls in order. It returns, for each call, the count of its fingerprint right after that call. Each
	// call of a fingerprint gets a different count, even if other workers record at the same time. A batch that Check
	// rejects is an error and counts nothing. Record keeps no reference to calls.
	Record(ctx context.Context, swarm string, calls []Call) ([]Count, error)

	// Snapshot returns the counts of the swarm as the JSON of a Snapshot. Equal counts give equal bytes. The Snapshot of an
	// unknown swarm is empty.
	Snapshot(ctx context.Context, swarm string) ([]byte, error)

	// Restore replaces the counts of the swarm by those of a snapshot. What ParseSnapshot rejects is an error and changes
	// nothing.
	Restore(ctx context.Context, swarm string, data []byte) error

	// Clear removes the counts of the swarm.
	Clear(ctx context.Context, swarm string) error
}

// Check returns an error if a Store must reject the calls because of an invalid name. Implementations of Store use it.
func Check(swarm string, calls []Call) error {
	if err := checkName(swarm); err != nil {
		return fmt.Errorf("swarm: %w", err)
	}
	for k := range calls {
		if err := checkName(calls[k].Worker); err != nil {
			return fmt.Errorf("worker of call %d: %w", k, err)
		}
	}
	return nil
}

// checkName returns an error if the name of a swarm or of a worker is invalid.
func checkName(name string) error {
	if len(name) > MaxName {
		return fmt.Errorf("the name has %d bytes, over %d", len(name), MaxName)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("the name %q is not UTF-8", name)
	}
	return nil
}

// Limits are the minimum counts of a loop of a whole swarm.
type Limits struct {
	Calls   int `yaml:"calls" json:"calls"`     // calls of all workers, 2 to 1,000,000
	Workers int `yaml:"workers" json:"workers"` // workers that made them, 1 to MaxWorkers
}

// DefaultLimits returns the published limits: 10 calls by 2 workers.
func DefaultLimits() Limits { return Limits{Calls: 10, Workers: 2} }

// Validate returns an error that joins all limits out of range.
func (l Limits) Validate() error {
	return errors.Join(inRange("calls", l.Calls, 2, 1_000_000), inRange("workers", l.Workers, 1, MaxWorkers))
}

// Loop reports whether the count reaches both limits.
func (l Limits) Loop(c Count) bool { return c.Calls >= l.Calls && c.Workers >= l.Workers }

func inRange(field string, value, low, high int) error {
	if value < low || value > high {
		return fmt.Errorf("%s is %d: it must be from %d to %d", field, value, low, high)
	}
	return nil
}
