package swarm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop"
)

// SnapshotVersion is the version of the snapshots that this package writes and reads.
const SnapshotVersion = 1

// maxCalls is the highest count in a snapshot. JSON readers with floating-point numbers represent all integers up to it.
const maxCalls = 1<<53 - 1

// Snapshot is the content of a snapshot. Implementations of Store write it with encoding/json and read it with ParseSnapshot,
// so that one Store can restore the snapshot of another.
type Snapshot struct {
	Version      int     `json:"version"`      // SnapshotVersion
	Fingerprints []Tally `json:"fingerprints"` // sorted by fingerprint; never nil, so that an empty list is [] in JSON
}

// Tally is the count of one fingerprint in a snapshot.
type Tally struct {
	Fingerprint unloop.Hash `json:"fingerprint,string"` // a string in JSON, because many readers round numbers of this size
	Tool        string      `json:"tool"`               // the tool of the latest call
	Calls       int         `json:"calls"`              // 1 to 2⁵³-1
	Workers     []string    `json:"workers"`            // the workers that made them, sorted: 1 to MaxWorkers
	Idle        bool        `json:"idle,omitempty"`     // evicted before the others
}

// ParseSnapshot reads the JSON of a Snapshot. The data may come from an untrusted source: it is an error if no Store can have
// written it. The memory that it takes is proportional to the length of the data.
func ParseSnapshot(data []byte) (Snapshot, error) {
	var s Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return Snapshot{}, err
	}
	return s, s.validate()
}

func (s Snapshot) validate() error {
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
			return fmt.Errorf("fingerprint %d of the snapshot is a duplicate", k)
		}
		seen[tally.Fingerprint] = true
	}
	return nil
}

func (t *Tally) validate() error {
	if t.Fingerprint == 0 {
		return errors.New("it is 0, want a hash that is not 0")
	}
	mistakes := []error{
		inRange("calls", t.Calls, 1, maxCalls),
		inRange("the number of workers", len(t.Workers), 1, min(t.Calls, MaxWorkers)),
	}
	for k, worker := range t.Workers {
		if err := checkName(worker); err != nil {
			mistakes = append(mistakes, fmt.Errorf("worker %d: %w", k, err))
		}
		if slices.Contains(t.Workers[:k], worker) {
			mistakes = append(mistakes, fmt.Errorf("worker %d is a duplicate", k))
		}
	}
	return errors.Join(mistakes...)
}
