package unloop

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// snapshotVersion is that of the state's JSON. A change that older readers would misread raises it.
const snapshotVersion = 1

type runSnapshot struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	State   *state `json:"state"`
}

// MarshalJSON writes the run's state: all that a Restore needs to go on exactly where the run was. It holds excerpts of
// arguments and results where the run keeps NeedExcerpts.
func (r *Run) MarshalJSON() ([]byte, error) { return json.Marshal(r.Snapshot()) }

// Snapshot returns what MarshalJSON writes, for those who write it within something larger: encoding/json reads again what
// a MarshalJSON within hands it. It is valid until the next Add.
func (r *Run) Snapshot() any { return runSnapshot{snapshotVersion, r.id, &r.s} }

// RestoreRun makes a run of what MarshalJSON wrote. The reading must be that of the run that was written. Data may come from
// anybody: what is over 16 MiB, or what no run could have written, is an error. It takes about 10 ns a byte.
func RestoreRun(data []byte, reading Options) (*Run, error) {
	if err := snapshot.Bounded(data); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	var kept runSnapshot
	if err := json.Unmarshal(data, &kept); err != nil {
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
	if n := min(kept.State.Calls, recentExcerpts); reading.Needs&NeedExcerpts != 0 && len(kept.State.Excerpts) != n {
		return nil, fmt.Errorf("restore a run: %d excerpts, want %d", len(kept.State.Excerpts), n)
	}
	r := NewRun(kept.ID, reading)
	if kept.State.Tools == nil {
		kept.State.Tools = r.s.Tools
	}
	r.s = *kept.State
	return r, nil
}
