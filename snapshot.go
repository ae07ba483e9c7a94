package unloop

import (
	"encoding/json"
	"fmt"
)

// snapshotVersion is that of the state's JSON. A change that older readers would misread raises it.
const snapshotVersion = 1

type runSnapshot struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	State   *state `json:"state"`
}

// MarshalJSON writes the run's state: all that a Restore needs to go on exactly where the run was. It holds excerpts of
// arguments and results where the run keeps FactExcerpts.
func (r *Run) MarshalJSON() ([]byte, error) { return json.Marshal(r.Snapshot()) }

// Snapshot returns what MarshalJSON writes, for those who write it within something larger: encoding/json reads again what
// a MarshalJSON within hands it. It is valid until the next Add.
func (r *Run) Snapshot() any { return runSnapshot{snapshotVersion, r.id, &r.s} }

// RestoreRun makes a run of what MarshalJSON wrote. The reading must be that of the run that was written.
func RestoreRun(data []byte, reading Reading) (*Run, error) {
	r := NewRun("", reading)
	snapshot := runSnapshot{State: &r.s}
	if err := json.Unmarshal(data, &snapshot); err != nil {
		return nil, fmt.Errorf("restore a run: %w", err)
	}
	if snapshot.Version != snapshotVersion {
		return nil, fmt.Errorf("restore a run: the snapshot has version %d; this program reads version %d", snapshot.Version, snapshotVersion)
	}
	r.id = snapshot.ID
	return r, r.s.check()
}

// check refuses a state that no run could have written, so that a wrong snapshot is an error and not a crash.
func (s *state) check() error {
	if s.Tools == nil {
		s.Tools = make(map[string]*Tool)
	}
	for name, t := range s.Tools {
		if t == nil || t.Name != name {
			return fmt.Errorf("restore a run: tool %q is not what it says", name)
		}
		for _, in := range t.Inputs {
			if in == nil {
				return fmt.Errorf("restore a run: tool %q has an empty input", name)
			}
		}
	}
	steps, shown := min(s.Calls, recentSteps), min(s.Calls, recentExcerpts)
	if s.Calls < 0 || len(s.Recent) != steps || len(s.Excerpts) != 0 && len(s.Excerpts) != shown ||
		len(s.Open) > maxOpen || len(s.Receivers) != len(s.Received) || len(s.Receivers) != len(s.Until) || s.Asked.N < 0 || s.Outcomes.N < 0 {
		return fmt.Errorf("restore a run: the state contradicts itself")
	}
	for _, sp := range s.Texts {
		if sp == nil || len(sp.Said) > recentTexts || sp.Next < 0 || sp.Next >= recentTexts {
			return fmt.Errorf("restore a run: a speech is not what it says")
		}
	}
	return nil
}
