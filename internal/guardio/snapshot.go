package guardio

import (
	"encoding/json"

	"github.com/unloop-ai/unloop/guard"
)

// snapshot is the state of a run on the wire. The state is a string, because some clients round large numbers.
type snapshot struct {
	Profile string `json:"profile"`
	State   string `json:"state"`
	MAC     string `json:"mac,omitempty"` // of the state, if snapshots are signed
}

func (s *Server) snapshot() {
	state, err := s.run().Snapshot()
	kept := snapshot{Profile: s.profile.Name(), State: string(state)}
	if err == nil && s.signer != nil {
		kept.MAC, err = s.signer.Sign(kept.State)
	}
	if err != nil {
		s.refuse(mistake{"snapshot_failed", err.Error()})
		return
	}
	s.value("snapshot", kept)
}

func (s *Server) restore(q *request) {
	restored, err := s.restored(q)
	if err != nil {
		s.refuse(mistake{"restore_failed", "snapshot: " + err.Error() + "; want a snapshot under the same profile and settings"})
		return
	}
	s.runs.Put(q.run, restored)
	s.value("ok", true)
}

func (s *Server) restored(q *request) (*guard.Guard, error) {
	var kept snapshot
	if err := json.Unmarshal(q.snapshot, &kept); err != nil {
		return nil, err
	}
	if s.signer != nil {
		if err := s.signer.Verify(kept.State, kept.MAC); err != nil {
			return nil, err
		}
	}
	return guard.Restore(s.profile, s.options(q.run), []byte(kept.State))
}
