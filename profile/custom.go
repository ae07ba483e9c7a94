package profile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Parts are what a profile of a program's own is made of. Name and Detectors are needed.
type Parts struct {
	Name  string // not that of a built-in profile; snapshots of another name are refused
	Title string // what the profile does, in a line for people

	// Detectors are asked in this order. They may be those of package detect or any others. Their names must differ.
	Detectors []unloop.Detector

	// Policy makes the policy of a run, or of a tool in Common.Tools within a run; nil for policy.Report. A policy that keeps something from event to event is a policy.Stateful, and a new one is made at each call.
	Policy func() policy.Policy

	Mark    MessagePrefix              // Tag is "loop-guard" if it is empty
	Swarm   Swarm                      // when the workers of a swarm loop together; the zero Swarm for never
	ByName  func(string) unloop.Effect // classifies a tool by its name; nil for unloop.EffectOf
	Penalty func(*unloop.Finding) int  // what a warning costs of 100 points of health; nil for 10, 25 or 40 by severity

	// Common are the settings that every profile has. Nudges may have a text for any code of the policy; the codes of
	// policy.Ladder have one, and other codes share one. Of Tools, only the class can be set. Shells stand beside the usual names.
	Common Common
}

// Custom makes a profile of parts, or says all that is wrong with them. It takes copies of the lists and settings; detectors and
// functions are called for many runs at once.
func Custom(parts Parts) (*Profile, error) {
	if err := parts.validate(); err != nil {
		return nil, fmt.Errorf("custom profile: %w", err)
	}
	parts.Detectors = slices.Clone(parts.Detectors)
	return FromSettings(&custom{parts: parts, Common: parts.Common})
}

func (parts *Parts) validate() error {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	switch {
	case parts.Name == "":
		wrong("it has no name")
	case slices.Contains(Names(), parts.Name):
		wrong("%q is the name of a built-in profile", parts.Name)
	}
	if len(parts.Detectors) == 0 {
		wrong("it has no detectors")
	}
	known := make(map[string]bool)
	for k, d := range parts.Detectors {
		if d == nil {
			wrong("detector %d is nil", k)
			continue
		}
		switch info := d.Info(); {
		case info.Name == "":
			wrong("detector %d (%T) has no name", k, d)
		case known[info.Name]:
			wrong("two detectors have the name %q", info.Name)
		case info.At&(unloop.AtAny|unloop.AtStale) == 0:
			wrong("detector %q is never asked: Info().At is empty", info.Name)
		default:
			known[info.Name] = true
		}
	}
	for tool, own := range parts.Common.Tools {
		if len(own.Settings) > 0 {
			wrong("tools: %s: only its class can be set", tool)
		}
	}
	return errors.Join(append(mistakes, checkPolicy(parts.Policy))...)
}

// checkPolicy makes two policies, as for two runs, and looks whether they can be told apart and written to snapshots.
func checkPolicy(make func() policy.Policy) error {
	if make == nil {
		return nil
	}
	one, other := make(), make()
	if one == nil || other == nil {
		return errors.New("Policy returns nil")
	}
	kept, keeps := one.(policy.Stateful)
	if !keeps {
		return nil
	}
	state := reflect.ValueOf(kept.State())
	if state.Kind() != reflect.Pointer || state.IsNil() {
		return fmt.Errorf("policy: State of %T returns no pointer", one)
	}
	if second, ok := other.(policy.Stateful); ok && state.Type().Elem().Size() > 0 && state.Interface() == second.State() {
		return fmt.Errorf("Policy returns the same %T twice: runs would share its state", one)
	}
	return nil
}

// custom are the settings of a custom profile: those that every profile has.
type custom struct {
	parts  Parts
	Common `yaml:",inline"`
}

// Validate finds nothing: Custom has looked at the parts, and FromSettings looks at what every profile has.
func (s *custom) Validate() error { return nil }

func (s *custom) profile() *Profile {
	p := &Profile{
		name: s.parts.Name, title: s.parts.Title, detectors: s.parts.Detectors, mark: s.parts.Mark, swarm: s.parts.Swarm,
		reading: unloop.Options{Shells: unloop.DefaultShells(), EffectByName: s.parts.ByName},
		policy:  s.parts.Policy, penalty: s.parts.Penalty,
	}
	if p.mark.Tag == "" {
		p.mark.Tag = "loop-guard"
	}
	if p.penalty == nil {
		p.penalty = severityPenalty
	}
	return p
}

// nudgesOf returns the texts of a profile. A custom profile has those of policy.Ladder's codes, and may have one for any code, since
// its codes are its policy's.
func nudgesOf(settings Settings, name string) (*policy.Nudges, error) {
	own := settings.common().Nudges
	if _, ok := settings.(*custom); !ok {
		return policy.NewNudges(name, own)
	}
	nudges, err := policy.NewNudges(Default, nil)
	mistakes := []error{err}
	for _, code := range slices.Sorted(maps.Keys(own)) {
		if err == nil {
			mistakes = append(mistakes, nudges.Set(code, own[code]))
		}
	}
	return nudges, errors.Join(mistakes...)
}
