package profile

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/policy"
)

// Parts are the parts of a custom profile. Name and Detectors are required.
type Parts struct {
	Name  string // must differ from the built-in profiles; Restore rejects snapshots of a profile with another name
	Title string // what the profile does, in one line for people

	// Detectors are called in this order. They may come from package detect or from anywhere else. Their names must be
	// unique.
	Detectors []unloop.Detector

	// Policy returns the policy of a run, or of a tool in Common.Tools within a run. Nil means policy.Report. A policy with
	// state must implement policy.Stateful, and each call must return a new one.
	Policy func() policy.Policy

	Prefix       MessagePrefix              // an empty Tag means "loop-guard"
	Swarm        Swarm                      // limits of a loop of a whole swarm; zero for those of package swarm
	EffectByName func(string) unloop.Effect // returns the effect of a tool by its name; nil means unloop.EffectOf
	Penalty      func(*unloop.Finding) int  // points of 100 that a warning takes from the health; nil means 10, 25 or 40 by severity

	// Common has the settings that all profiles share. Nudges may have a text for any code of the policy. The codes of
	// policy.Ladder have a default text, and all other codes share one. Of Tools, only the class can be set. Shells are
	// added to unloop.DefaultShells.
	Common Common
}

// Custom makes a profile of parts. The error joins everything that is invalid. Custom copies the lists and settings. Detectors
// and functions must be safe for concurrent use, because many runs share them.
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
		wrong("the name is empty")
	case slices.Contains(Names(), parts.Name):
		wrong("%q is the name of a built-in profile", parts.Name)
	}
	if len(parts.Detectors) == 0 {
		wrong("there are no detectors")
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
	for _, tool := range slices.Sorted(maps.Keys(parts.Common.Tools)) {
		if len(parts.Common.Tools[tool].Settings) > 0 {
			wrong("tools: %s: only the class can be set", tool)
		}
	}
	return errors.Join(append(mistakes, checkPolicy(parts.Policy))...)
}

// checkPolicy makes two policies, as for two runs. It checks that they are not the same one and that the second can restore
// a snapshot of the first.
func checkPolicy(make func() policy.Policy) error {
	if make == nil {
		return nil
	}
	one, other := make(), make()
	if one == nil || other == nil {
		return errors.New("the Policy function returns nil")
	}
	kept, keeps := one.(policy.Stateful)
	restored, restores := other.(policy.Stateful)
	if !keeps || !restores {
		return nil
	}
	if v := reflect.ValueOf(one); v.Kind() == reflect.Pointer && v.Type().Elem().Size() > 0 && one == other {
		return fmt.Errorf("the Policy function returns the same %T twice: runs would share its state", one)
	}
	data, err := kept.Snapshot()
	if err == nil {
		err = restored.Restore(data)
	}
	if err != nil {
		return fmt.Errorf("the policy %T cannot restore its own snapshot: %w", one, err)
	}
	return nil
}

// custom is the settings of a custom profile: those that all profiles share.
type custom struct {
	parts  Parts
	Common `yaml:",inline"`
}

// Validate returns nil: Custom checks the parts, and FromSettings checks the shared settings.
func (s *custom) Validate() error { return nil }

func (s *custom) profile() *Profile {
	p := &Profile{
		name: s.parts.Name, title: s.parts.Title, detectors: s.parts.Detectors, prefix: s.parts.Prefix, swarm: s.parts.Swarm,
		options: unloop.Options{Shells: unloop.DefaultShells(), EffectByName: s.parts.EffectByName},
		policy:  s.parts.Policy, penalty: s.parts.Penalty,
	}
	if p.prefix.Tag == "" {
		p.prefix.Tag = "loop-guard"
	}
	if p.penalty == nil {
		p.penalty = severityPenalty
	}
	return p
}

// nudgesOf returns the texts of a profile. A custom profile has the texts for the codes of policy.Ladder. It may have a text
// for any code, because its policy defines the codes.
func nudgesOf(settings Settings, name string) (*nudge.Texts, error) {
	own := settings.common().Nudges
	if _, ok := settings.(*custom); !ok {
		return nudge.New(name, own)
	}
	nudges, err := nudge.New(Default, nil)
	mistakes := []error{err}
	for _, code := range slices.Sorted(maps.Keys(own)) {
		if err == nil {
			mistakes = append(mistakes, nudges.Set(code, own[code]))
		}
	}
	return nudges, errors.Join(mistakes...)
}
