// Package profile names sets of detectors with their settings and a policy, and runs them: a Watch folds the events of
// one run, asks the detectors, keeps the warnings and has the policy decide. The command line, the guard and the
// server all go through it, so their verdicts are the same.
package profile

import (
	"fmt"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Default is the name of the profile that is used unless another is asked for.
const Default = "default"

// A Profile is ready to watch runs. It is safe for concurrent use.
type Profile struct {
	Name      string
	Title     string // one line for people
	Settings  Settings
	Detectors []unloop.Detector

	at      map[unloop.At][]unloop.Detector // those to ask at each kind of event
	reading unloop.Reading
	policy  func() policy.Policy // makes one for each run
	penalty func(*unloop.Finding) int
}

// Settings are a profile's settings: a struct whose fields have yaml names. Validate joins all mistakes and names the
// field and its range.
type Settings interface {
	Validate() error
	profile() *Profile
}

// Names returns the names of the built-in profiles.
func Names() []string { return []string{Default, "looplens"} }

// defaults returns the settings of a built-in profile as they stand.
func defaults(name string) (Settings, error) {
	switch name {
	case Default:
		return DefaultSettings(), nil
	case "looplens":
		return LoopLensSettings(), nil
	}
	return nil, fmt.Errorf("there is no profile %q; there are %s", name, strings.Join(Names(), ", "))
}

// New returns a built-in profile with its settings as they stand.
func New(name string) (*Profile, error) {
	settings, err := defaults(name)
	if err != nil {
		return nil, err
	}
	return FromSettings(settings)
}

// FromSettings makes a profile of settings, or says what is wrong with them.
func FromSettings(settings Settings) (*Profile, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	p := settings.profile()
	p.Settings = settings
	p.at = make(map[unloop.At][]unloop.Detector)
	for _, d := range p.Detectors {
		info := d.Info()
		p.reading.Facts |= info.Facts
		for kind := unloop.AtStart; kind <= unloop.AtOther; kind <<= 1 {
			if info.At&kind != 0 {
				p.at[kind] = append(p.at[kind], d)
			}
		}
	}
	return p, nil
}

// Watch is one run under a profile. It is not safe for concurrent use.
type Watch struct {
	profile  *Profile
	run      *unloop.Run
	policy   policy.Policy
	warnings policy.Warnings
	found    []unloop.Finding
	grown    []unloop.Finding
}

// Watch begins to watch a run.
func (p *Profile) Watch(runID string) *Watch {
	return &Watch{profile: p, run: unloop.NewRun(runID, p.reading), policy: p.policy()}
}

// Add folds the next event of the run and returns the profile's decision at it. Findings in the decision are valid until
// the next Add.
func (w *Watch) Add(e *unloop.Event) policy.Decision {
	w.run.Add(e)
	w.found, w.grown = w.found[:0], w.grown[:0]
	for _, d := range w.profile.at[e.Type.Kind()] {
		f, ok := d.Check(w.run)
		if !ok {
			continue
		}
		w.found = append(w.found, f)
		if w.warnings.Note(f) {
			w.grown = append(w.grown, f)
		}
	}
	return w.policy.Decide(w.run, w.found, w.grown)
}

// Grown returns the findings at the latest event that are new or have grown. It is valid until the next Add.
func (w *Watch) Grown() []unloop.Finding { return w.grown }

// Run returns the run that is watched.
func (w *Watch) Run() *unloop.Run { return w.run }

// Warnings returns the run's warnings, sorted by rule, then subject.
func (w *Watch) Warnings() []unloop.Finding { return w.warnings.All() }

// Health returns how well the run does.
func (w *Watch) Health() policy.Health {
	return policy.HealthOf(w.warnings.All(), w.run.Metrics().Failed, w.profile.penalty)
}
