package swarm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop"
)

// SnapshotVersion is the version of the form of snapshots that this package writes and reads.
const SnapshotVersion = 1

// maxCalls is the highest count in a snapshot: up to it, all that reads JSON agrees on whole numbers.
const maxCalls = 1<<53 - 1

// Snapshot is all that a Store knows of a swarm, for a checkpoint. Equal knowledge gives equal bytes of JSON.
type Snapshot struct {
	Version      int     `json:"version"`
	Fingerprints []Tally `json:"fingerprints"` // sorted; never nil, so that none is [] in JSON
}

// Tally is what a Store knows of one fingerprint.
type Tally struct {
	Fingerprint unloop.Hash `json:"fingerprint,string"` // a string in JSON: many readers round numbers of this size
	Tool        string      `json:"tool"`               // of the latest call
	Calls       int         `json:"calls"`              // 1 to 2⁵³-1
	Workers     []string    `json:"workers"`            // that made them: 1 to MaxWorkers, sorted
	Idle        bool        `json:"idle,omitempty"`     // where room is needed, it goes before those that are not
}

// Validate reports why a Store must refuse to restore the snapshot, if it must.
func (s Snapshot) Validate() error {
	if s.Version != SnapshotVersion {
		return fmt.Errorf("the snapshot has version %d, not %d", s.Version, SnapshotVersion)
	}
	seen := make(map[unloop.Hash]bool, len(s.Fingerprints))
	for k := range s.Fingerprints {
		tally := &s.Fingerprints[k]
		if err := tally.validate(); err != nil {
			return fmt.Errorf("fingerprint %d of the snapshot: %w", k, err)
		}
		if seen[tally.Fingerprint] {
			return fmt.Errorf("fingerprint %d of the snapshot came before", k)
		}
		seen[tally.Fingerprint] = true
	}
	return nil
}

func (t *Tally) validate() error {
	if t.Fingerprint == 0 {
		return errors.New("it is 0, which stands for nothing")
	}
	mistakes := []error{
		inRange("calls", t.Calls, 1, maxCalls),
		inRange("the number of workers", len(t.Workers), 1, min(t.Calls, MaxWorkers)),
	}
	for k, worker := range t.Workers {
		if err := CheckName(worker); err != nil {
			mistakes = append(mistakes, fmt.Errorf("worker %d: %w", k, err))
		}
		if slices.Contains(t.Workers[:k], worker) {
			mistakes = append(mistakes, fmt.Errorf("worker %d came before", k))
		}
	}
	return errors.Join(mistakes...)
}
