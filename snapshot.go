package unloop

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// snapshotVersion is the version of the JSON of a snapshot. A change that older readers would misread increments it.
const snapshotVersion = 7

type runSnapshot struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	State   *state `json:"state"`
}

// Snapshot returns the complete state of the run as JSON. A run that RestoreRun makes of it continues exactly as this one
// would. If the run keeps NeedExcerpts, the state contains excerpts of arguments and results.
func (r *Run) Snapshot() ([]byte, error) {
	return json.Marshal(runSnapshot{snapshotVersion, r.id, &r.s})
}

// AppendBinary appends what Snapshot returns, in a form that is smaller and ten times as fast. Only a program that was built with
// the same version of this module reads it.
func (r *Run) AppendBinary(to []byte) ([]byte, error) {
	return snapshot.AppendBinary(to, runSnapshot{snapshotVersion, r.id, &r.s})
}

// RestoreRun makes a run from the output of Snapshot or AppendBinary. The options must be equal to those of the original run. The
// data may come from an untrusted source: RestoreRun returns an error if it exceeds 16 MiB or if no run can have written it. It
// takes about 10 ns per byte.
func RestoreRun(data []byte, options Options) (*Run, error) {
	var kept runSnapshot
	if err := snapshot.Decode(data, &kept); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	if kept.Version != snapshotVersion {
		return nil, fmt.Errorf("restore a run: the snapshot has version %d; this program reads version %d", kept.Version, snapshotVersion)
	}
	if kept.State == nil {
		return nil, errors.New("restore a run: the snapshot has no state")
	}
	if err := kept.State.validate(); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	if n := min(kept.State.Calls, recentExcerpts); options.Needs&NeedExcerpts != 0 && len(kept.State.Excerpts) != n {
		return nil, fmt.Errorf("restore a run: %d excerpts, want %d", len(kept.State.Excerpts), n)
	}
	r := NewRun(kept.ID, options)
	if kept.State.Tools == nil {
		kept.State.Tools = r.s.Tools
	}
	r.s = *kept.State
	return r, nil
}
