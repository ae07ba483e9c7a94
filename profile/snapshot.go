package profile

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/policy"
)

// sessionState is the JSON of a Session. Part is any value for writing, and json.RawMessage for reading.
type sessionState[Part any] struct {
	Profile  string           `json:"profile"`
	Run      Part             `json:"run"`
	Policy   Part             `json:"policy,omitempty"`
	Tools    map[string]Part  `json:"tools,omitempty"` // policies of tools with their own settings
	Warnings []unloop.Finding `json:"warnings,omitempty"`
	Course   policy.Course    `json:"course,omitzero"`
	Opinions Part             `json:"opinions,omitempty"`
	Steps    []string         `json:"steps,omitempty"` // the transcript
}

// MarshalJSON writes the complete state of the session. A session that Restore makes of it continues exactly as this one
// would.
func (w *Session) MarshalJSON() ([]byte, error) {
	state := sessionState[any]{Profile: w.profile.name, Run: w.run.Snapshot(), Policy: policyState(w.policy), Warnings: w.warnings.All(), Course: w.course}
	if state.Opinions = w.opinions.State(); w.transcript != nil {
		state.Steps = w.transcript.entries
	}
	for name, p := range w.tools {
		if state.Tools == nil {
			state.Tools = make(map[string]any)
		}
		state.Tools[name] = policyState(p)
	}
	return json.Marshal(state)
}

// policyState returns the state of the policy, or nil if it has none.
func policyState(p policy.Policy) any {
	if s, ok := p.(policy.Stateful); ok {
		return s.State()
	}
	return nil
}

// Restore makes a session from the output of MarshalJSON under the same profile and settings. The data may come from an
// untrusted source: Restore returns an error if it exceeds 16 MiB or if no session can have written it.
func (p *Profile) Restore(data []byte) (*Session, error) {
	if err := snapshot.Bounded(data); err != nil {
		return nil, fmt.Errorf("restore a watch: %w", err)
	}
	var kept sessionState[json.RawMessage]
	if err := json.Unmarshal(data, &kept); err != nil {
		return nil, fmt.Errorf("restore a watch: %w", err)
	}
	if kept.Profile != p.name {
		return nil, fmt.Errorf("restore a watch: the snapshot is of profile %.100s, not of %s", kept.Profile, p.name)
	}
	run, err := unloop.RestoreRun(kept.Run, p.reading)
	if err != nil {
		return nil, err
	}
	if !kept.Course.Valid() {
		return nil, errors.New("restore a session: the course contradicts itself")
	}
	w := &Session{profile: p, run: run, policy: p.newPolicy(), course: kept.Course}
	if err := restorePolicy(w.policy, kept.Policy); err != nil {
		return nil, err
	}
	if kept.Opinions != nil {
		if err := w.opinions.Restore(kept.Opinions); err != nil {
			return nil, err
		}
	}
	if kept.Steps != nil {
		if len(kept.Steps) > transcriptEntries {
			return nil, fmt.Errorf("restore a session: the transcript has %d entries, want at most %d", len(kept.Steps), transcriptEntries)
		}
		w.transcript = &transcript{entries: kept.Steps}
	}
	for name, state := range kept.Tools {
		own, ok := p.tools[name]
		if !ok {
			return nil, fmt.Errorf("restore a watch: the profile has no settings of its own for %.100s", name)
		}
		if w.tools == nil {
			w.tools = make(map[string]policy.Policy)
		}
		w.tools[name] = own.newPolicy()
		if err := restorePolicy(w.tools[name], state); err != nil {
			return nil, err
		}
	}
	if err := w.warnings.Restore(kept.Warnings); err != nil {
		return nil, fmt.Errorf("restore a watch: %w", err)
	}
	return w, nil
}

func restorePolicy(p policy.Policy, kept json.RawMessage) error {
	s, ok := p.(policy.Stateful)
	if !ok || kept == nil {
		return nil
	}
	state := s.State()
	if err := json.Unmarshal(kept, state); err != nil {
		return fmt.Errorf("restore a policy: %w", err)
	}
	if v, ok := state.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("restore a policy: %w", err)
		}
	}
	return nil
}
