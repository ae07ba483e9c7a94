package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/snapshot"
	"github.com/unloop-ai/unloop/policy"
)

// sessionState is the JSON of a Session.
type sessionState struct {
	Run      json.RawMessage            `json:"run,omitempty"`
	Profile  string                     `json:"profile"`
	Policy   json.RawMessage            `json:"policy,omitempty"`
	Tools    map[string]json.RawMessage `json:"tools,omitempty"` // policies of tools with their own settings
	Warnings []unloop.Finding           `json:"warnings,omitempty"`
	Course   course                     `json:"course,omitzero"`
	Orders   *orders                    `json:"orders,omitempty"`
	Opinions json.RawMessage            `json:"opinions,omitempty"`
	Steps    []string                   `json:"steps,omitempty"` // the transcript
}

// Snapshot returns the complete state of the session as JSON. A session that Restore makes of it continues exactly as this
// one would. The error is that of a custom policy.
func (s *Session) Snapshot() ([]byte, error) {
	run, err := s.run.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("write a run: %w", err)
	}
	state, err := s.stateBesideRun()
	if err != nil {
		return nil, err
	}
	rest, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("write a session: %w", err)
	}
	data := make([]byte, 0, len(`{"run":,`)+len(run)+len(rest)) // encoding/json would parse the run again
	data = append(append(data, `{"run":`...), run...)
	return append(append(data, ','), rest[1:]...), nil
}

// AppendBinary appends the state of Snapshot in a binary form, which is smaller and ten times as fast to write. Only a program
// that was built with the same version of this module can read it.
func (s *Session) AppendBinary(to []byte) ([]byte, error) {
	run, err := s.run.AppendBinary(make([]byte, 0, s.runSize+spareBytes))
	if err != nil {
		return to, fmt.Errorf("write a run: %w", err)
	}
	s.runSize = len(run)
	state, err := s.stateBesideRun()
	if err != nil {
		return to, err
	}
	state.Run = run
	return snapshot.AppendBinary(slices.Grow(to, len(run)+spareBytes), state)
}

// spareBytes is how much a binary snapshot may be larger than expected before its memory is allocated a second time.
const spareBytes = 4 << 10

// stateBesideRun returns the state without the run.
func (s *Session) stateBesideRun() (state sessionState, err error) {
	state = sessionState{Profile: s.profile.name, Warnings: s.warnings.All(), Course: s.course}
	if s.orders.Halt != "" || len(s.orders.Allowed) > 0 {
		state.Orders = &s.orders
	}
	if s.transcript != nil {
		state.Steps = s.transcript.entries
	}
	if state.Policy, err = policyState(s.policy); err != nil {
		return state, err
	}
	if state.Opinions, err = s.opinions.Snapshot(); err != nil {
		return state, err
	}
	for name, p := range s.tools {
		if state.Tools == nil {
			state.Tools = make(map[string]json.RawMessage)
		}
		if state.Tools[name], err = policyState(p); err != nil {
			return state, err
		}
	}
	return state, nil
}

// policyState returns the state of the policy, or nil if it has none.
func policyState(p policy.Policy) ([]byte, error) {
	stateful, ok := p.(policy.Stateful)
	if !ok {
		return nil, nil
	}
	data, err := stateful.Snapshot()
	if err != nil {
		return nil, fmt.Errorf("write the policy %T: %w", p, err)
	}
	return data, nil
}

// Restore makes a session from the output of Session.Snapshot or Session.AppendBinary under the same profile and settings. The data
// may come from an untrusted source: Restore returns an error if it exceeds 16 MiB or if no session can have written it.
func (p *Profile) Restore(data []byte) (*Session, error) {
	var kept sessionState
	if err := snapshot.Decode(data, &kept); err != nil {
		return nil, fmt.Errorf("restore a session: %w", err)
	}
	if kept.Profile != p.name {
		return nil, fmt.Errorf("restore a session: the snapshot is of profile %.100s, not of %s", kept.Profile, p.name)
	}
	run, err := unloop.RestoreRun(kept.Run, p.options)
	if err != nil {
		return nil, err
	}
	if !kept.Course.valid(run.Metrics().Events) {
		return nil, errors.New("restore a session: the course is inconsistent")
	}
	s := &Session{profile: p, run: run, policy: p.newPolicy(), course: kept.Course, runSize: len(kept.Run)}
	if kept.Orders != nil {
		if s.orders = *kept.Orders; !s.orders.valid() {
			return nil, fmt.Errorf("restore a session: %d tools are allowed, want at most %d", len(s.orders.Allowed), maxAllowed)
		}
	}
	if err := restorePolicy(s.policy, kept.Policy); err != nil {
		return nil, err
	}
	if kept.Opinions != nil {
		if err := s.opinions.Restore(kept.Opinions); err != nil {
			return nil, err
		}
	}
	if kept.Steps != nil {
		if len(kept.Steps) > transcriptEntries {
			return nil, fmt.Errorf("restore a session: the transcript has %d entries, want at most %d", len(kept.Steps), transcriptEntries)
		}
		s.transcript = &transcript{entries: kept.Steps}
	}
	if err := s.restoreTools(kept.Tools); err != nil {
		return nil, err
	}
	if err := s.warnings.Restore(kept.Warnings); err != nil {
		return nil, fmt.Errorf("restore a session: %w", err)
	}
	return s, nil
}

// restoreTools restores the policies of tools with their own settings.
func (s *Session) restoreTools(kept map[string]json.RawMessage) error {
	for name, state := range kept {
		own, ok := s.profile.tools[name]
		if !ok {
			return fmt.Errorf("restore a session: the profile has no settings for the tool %.100s", name)
		}
		if err := restorePolicy(s.policyOf(name, own), state); err != nil {
			return err
		}
	}
	return nil
}

func restorePolicy(p policy.Policy, kept json.RawMessage) error {
	stateful, ok := p.(policy.Stateful)
	if !ok || kept == nil {
		return nil
	}
	if err := stateful.Restore(kept); err != nil {
		return fmt.Errorf("restore the policy %T: %w", p, err)
	}
	return nil
}
