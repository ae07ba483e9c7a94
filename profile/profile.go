// Package profile combines detectors, their settings and a policy into a named Profile, and runs them. A Session folds the
// events of one run, calls the detectors, keeps the warnings and calls the policy. A decoder or a guard gives it the events, and
// scan, guard and server use what it returns, so they give the same verdicts.
package profile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/nudge"
	"github.com/unloop-ai/unloop/policy"
)

// Default is the name of the default profile.
const Default = "default"

// kinds is the number of kinds of events.
const kinds = 6

// Profile is a set of detectors with their settings and a policy. New, Load and FromSettings make the built-in profiles, and
// Custom makes others. A Profile is immutable and safe for concurrent use. The zero Profile has no detectors and allows
// everything.
type Profile struct {
	name      string
	title     string
	settings  Settings
	detectors []unloop.Detector
	prefix    MessagePrefix
	swarm     Swarm
	shadow    bool

	at      [kinds][]unloop.Detector // the detectors to call at each kind of event
	tools   map[string]*Profile      // for tools with their own settings
	nudges  *nudge.Texts
	options unloop.Options
	policy  func() policy.Policy // returns a new one for each run
	penalty func(*unloop.Finding) int
	failure int // penalty of a run that failed, in a published table of scores; 0 for profiles without one, because failed is no loop
}

// Name returns the name of the profile, which snapshots contain.
func (p *Profile) Name() string { return p.name }

// Title returns a description of the profile in one line, for people.
func (p *Profile) Title() string { return p.title }

// Settings returns a copy of the settings of the profile, or nil for the zero Profile.
func (p *Profile) Settings() Settings {
	if p.settings == nil {
		return nil
	}
	return cloneSettings(p.settings)
}

// Detectors returns a copy of the list of detectors, in the order in which they are called.
func (p *Profile) Detectors() []unloop.Detector { return slices.Clone(p.detectors) }

// MessagePrefix returns how messages to the agent are marked.
func (p *Profile) MessagePrefix() MessagePrefix { return p.prefix }

// Swarm returns the limits of a loop of a whole swarm. The zero Swarm means that the profile has none of its own.
func (p *Profile) Swarm() Swarm { return p.swarm }

// Shadow reports whether the profile is in shadow mode: its decisions are reported and not carried out.
func (p *Profile) Shadow() bool { return p.shadow }

// MessagePrefix is how messages to the agent are marked.
type MessagePrefix struct {
	Tag  string // precedes each message, in brackets
	Text bool   // the result of a blocked call is a string instead of an object with an error
}

// Swarm is the minimum number of equal calls, and of workers that made them, in a loop of a whole swarm.
type Swarm struct{ Calls, Workers int }

// Settings is the settings of a profile: a struct whose fields have yaml tags. For a custom profile, it is the settings that
// all profiles share. Only types of this package implement it. A program makes its own profiles with Custom.
type Settings interface {
	// Validate returns an error that joins all settings out of range, each with its name and its range.
	Validate() error
	profile() *Profile
	common() *Common
}

// Names returns the names of the built-in profiles.
func Names() []string {
	return []string{Default, "looplens", "agentium", "cycles", "attocode", "loopguard", "loopdetection"}
}

// defaults returns the default settings of a built-in profile.
func defaults(name string) (Settings, error) {
	switch name {
	case Default:
		return DefaultSettings(), nil
	case "looplens":
		return LoopLensSettings(), nil
	case "agentium":
		return AgentiumSettings(), nil
	case "cycles":
		return CyclesSettings(), nil
	case "attocode":
		return AttocodeSettings(), nil
	case "loopguard":
		return LoopGuardSettings(), nil
	case "loopdetection":
		return LoopDetectionSettings(), nil
	}
	return nil, fmt.Errorf("unknown profile %q; profiles: %s", name, strings.Join(Names(), ", "))
}

// New returns a built-in profile with its default settings. An unknown name is an error.
func New(name string) (*Profile, error) {
	settings, err := defaults(name)
	if err != nil {
		return nil, err
	}
	return FromSettings(settings)
}

// FromSettings makes a profile of a copy of settings. The error joins everything that is invalid.
func FromSettings(settings Settings) (*Profile, error) {
	settings = cloneSettings(settings)
	common := settings.common()
	p := settings.profile()
	p.settings, p.shadow = settings, common.Shadow
	wrong := settings.Validate()
	mistakes := []error{wrong, common.read(&p.options)}
	for _, d := range p.detectors {
		info := d.Info()
		p.options.Needs |= info.Needs
		for kind := range kinds {
			at := unloop.At(1) << kind
			if info.At&at != 0 || at == unloop.AtStale && info.At&unloop.AtEnd != 0 {
				p.at[kind] = append(p.at[kind], d)
			}
		}
	}
	p.tools = make(map[string]*Profile)
	for _, name := range slices.Sorted(maps.Keys(common.Tools)) {
		own, err := forTool(settings, name, common.Tools[name], wrong)
		if mistakes = append(mistakes, err); err == nil {
			p.tools[name] = own
		}
	}
	var err error
	p.nudges, err = nudgesOf(settings, p.name)
	if err := errors.Join(append(mistakes, err)...); err != nil {
		return nil, err
	}
	return p, nil
}

// newPolicy returns a new policy for a run.
func (p *Profile) newPolicy() policy.Policy {
	if p.policy == nil {
		return policy.Report{}
	}
	return p.policy()
}

// Nudge returns the text for the agent for a decision.
func (p *Profile) Nudge(d *policy.Decision) string { return p.nudges.Text(d) }

// severityPenalty is the penalty of a warning in profiles that publish no table.
func severityPenalty(f *unloop.Finding) int {
	switch f.Severity {
	case unloop.SeverityCritical:
		return 40
	case unloop.SeverityWarning:
		return 25
	}
	return 10
}
