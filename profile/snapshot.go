package profile

import (
	"encoding/json"
	"fmt"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// watchState is the state of a Watch: its parts as they are to be written, or as they were read.
type watchState[Part any] struct {
	Profile  string           `json:"profile"`
	Run      Part             `json:"run"`
	Policy   Part             `json:"policy,omitempty"`
	Tools    map[string]Part  `json:"tools,omitempty"` // policies of tools with settings of their own
	Warnings []unloop.Finding `json:"warnings,omitempty"`
}

// MarshalJSON writes all that Restore needs to go on exactly where the watch is.
func (w *Watch) MarshalJSON() ([]byte, error) {
	state := watchState[any]{Profile: w.profile.Name, Run: w.run.Snapshot(), Policy: policyState(w.policy), Warnings: w.warnings.All()}
	for name, p := range w.tools {
		if state.Tools == nil {
			state.Tools = make(map[string]any)
		}
		state.Tools[name] = policyState(p)
	}
	return json.Marshal(state)
}

// policyState returns what the policy keeps, or nil if it keeps nothing.
func policyState(p policy.Policy) any {
	if s, ok := p.(policy.Stateful); ok {
		return s.State()
	}
	return nil
}

// Restore makes a watch of what MarshalJSON wrote under the same profile and settings.
func (p *Profile) Restore(data []byte) (*Watch, error) {
	var snapshot watchState[json.RawMessage]
	if err := json.Unmarshal(data, &snapshot); err != nil {
		return nil, fmt.Errorf("restore a watch: %w", err)
	}
	if snapshot.Profile != p.Name {
		return nil, fmt.Errorf("restore a watch: the snapshot is of profile %s, not of %s", snapshot.Profile, p.Name)
	}
	run, err := unloop.RestoreRun(snapshot.Run, p.reading)
	if err != nil {
		return nil, err
	}
	w := &Watch{profile: p, run: run, policy: p.policy()}
	if err := restorePolicy(w.policy, snapshot.Policy); err != nil {
		return nil, err
	}
	for name, state := range snapshot.Tools {
		own, ok := p.tools[name]
		if !ok {
			return nil, fmt.Errorf("restore a watch: the profile has no settings of its own for %s", name)
		}
		if w.tools == nil {
			w.tools = make(map[string]policy.Policy)
		}
		w.tools[name] = own.policy()
		if err := restorePolicy(w.tools[name], state); err != nil {
			return nil, err
		}
	}
	for _, f := range snapshot.Warnings {
		w.warnings.Note(f)
	}
	return w, nil
}

func restorePolicy(p policy.Policy, state json.RawMessage) error {
	s, ok := p.(policy.Stateful)
	if !ok || state == nil {
		return nil
	}
	if err := json.Unmarshal(state, s.State()); err != nil {
		return fmt.Errorf("restore a policy: %w", err)
	}
	return nil
}
