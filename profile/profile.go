// Package profile names sets of detectors with their settings and a policy, and runs them: a Watch folds the events of
// one run, asks the detectors, keeps the warnings and has the policy decide. The command line, the guard and the
// server all go through it, so their verdicts are the same.
package profile

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// Default is the name of the profile that is used unless another is asked for.
const Default = "default"

// kinds is how many kinds of events there are.
const kinds = 6

// A Profile is ready to watch runs. New, Load and FromSettings make the built-in ones, Custom one of a program's own. It cannot be
// changed, and is safe for concurrent use. The zero Profile has no detectors and allows everything.
type Profile struct {
	name      string
	title     string
	settings  Settings
	detectors []unloop.Detector
	mark      MessagePrefix
	swarm     Swarm
	shadow    bool

	at      [kinds][]unloop.Detector // those to ask at each kind of event
	tools   map[string]*Profile      // for tools with settings of their own
	nudges  *policy.Nudges
	reading unloop.Options
	policy  func() policy.Policy // makes one for each run
	penalty func(*unloop.Finding) int
}

// Name returns the profile's name, which stands in snapshots and decisions.
func (p *Profile) Name() string { return p.name }

// Title returns what the profile does, in a line for people.
func (p *Profile) Title() string { return p.title }

// Settings returns a copy of the profile's settings.
func (p *Profile) Settings() Settings {
	if p.settings == nil {
		return nil
	}
	return cloneSettings(p.settings)
}

// Detectors returns a copy of the list of detectors, in the order in which they are asked.
func (p *Profile) Detectors() []unloop.Detector { return slices.Clone(p.detectors) }

// MessagePrefix returns how what the profile says to an agent is marked.
func (p *Profile) MessagePrefix() MessagePrefix { return p.mark }

// Swarm returns when the workers of a swarm loop together; the zero Swarm for never.
func (p *Profile) Swarm() Swarm { return p.swarm }

// Shadow reports whether the profile only says what would have been done.
func (p *Profile) Shadow() bool { return p.shadow }

// MessagePrefix is how what the profile says to an agent is marked.
type MessagePrefix struct {
	Tag  string // stands in brackets before it
	Text bool   // a blocked call is answered by a text, and not by an object with an error
}

// Swarm is how many equal calls of how many workers make a loop of the whole swarm.
type Swarm struct{ Calls, Workers int }

// Settings are the settings of a built-in profile, or those of a custom one that every profile has: a struct whose fields have yaml
// names. Validate joins all mistakes and names the field and its range. Only this package implements it: a profile of a program's
// own is made by Custom.
type Settings interface {
	Validate() error
	profile() *Profile
	common() *Common
}

// Names returns the names of the built-in profiles.
func Names() []string {
	return []string{Default, "looplens", "agentium", "cycles", "attocode", "loopguard", "loopdetection"}
}

// defaults returns the settings of a built-in profile as they stand.
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

// FromSettings makes a profile of a copy of settings, or says all that is wrong with them.
func FromSettings(settings Settings) (*Profile, error) {
	settings = cloneSettings(settings)
	common := settings.common()
	p := settings.profile()
	p.settings, p.shadow = settings, common.Shadow
	mistakes := []error{settings.Validate(), common.read(&p.reading)}
	for _, d := range p.detectors {
		info := d.Info()
		p.reading.Needs |= info.Needs
		for kind := range kinds {
			at := unloop.At(1) << kind
			if info.At&at != 0 || at == unloop.AtStale && info.At&unloop.AtEnd != 0 {
				p.at[kind] = append(p.at[kind], d)
			}
		}
	}
	p.tools = make(map[string]*Profile)
	for name, tool := range common.Tools {
		own, err := forTool(settings, name, tool)
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

// newPolicy makes the policy of a run.
func (p *Profile) newPolicy() policy.Policy {
	if p.policy == nil {
		return policy.Report{}
	}
	return p.policy()
}

// Session is one run under a profile. It is not safe for concurrent use.
type Session struct {
	profile  *Profile
	run      *unloop.Run
	policy   policy.Policy
	tools    map[string]policy.Policy // for tools with settings of their own
	warnings policy.Warnings
	found    []unloop.Finding
	grown    []unloop.Finding
	course   policy.Course
}

// NewSession begins to watch a run.
func (p *Profile) NewSession(runID string) *Session {
	return &Session{profile: p, run: unloop.NewRun(runID, p.reading), policy: p.newPolicy()}
}

// Add folds the next event of the run and returns the profile's decision at it. Findings in the decision are valid until
// the next Add.
func (w *Session) Add(e *unloop.Event) policy.Decision {
	w.run.Add(e)
	profile, decide := w.rules()
	w.found, w.grown = w.found[:0], w.grown[:0]
	for _, d := range profile.at[bits.Len8(uint8(w.run.Current().Kinds()))-1] {
		f, ok := d.Check(w.run)
		if !ok {
			continue
		}
		w.found = append(w.found, f)
		if w.warnings.Upsert(f) {
			w.grown = append(w.grown, f)
		}
	}
	d := decide.Decide(w.run, w.found, w.grown)
	w.course.Note(w.run.Current().Ref.Number, &d)
	if d.Action != policy.Allow {
		d.Message = w.profile.Nudge(&d)
	}
	return d
}

// Nudge writes the text for the agent that goes with a decision.
func (p *Profile) Nudge(d *policy.Decision) string { return p.nudges.Text(d) }

// rules returns the profile and the policy that hold for the tool at hand.
func (w *Session) rules() (*Profile, policy.Policy) {
	step := w.run.Current().Step
	if step == nil || len(w.profile.tools) == 0 {
		return w.profile, w.policy
	}
	own, ok := w.profile.tools[step.Tool]
	if !ok {
		return w.profile, w.policy
	}
	decide, ok := w.tools[step.Tool]
	if !ok {
		if w.tools == nil {
			w.tools = make(map[string]policy.Policy)
		}
		decide = own.newPolicy()
		w.tools[step.Tool] = decide
	}
	return own, decide
}

// Findings begins a run and returns what folds its events: a function that takes the next one and returns the findings at it that are
// new or have grown, valid until the next call. Package detecttest plays traces against it.
func (p *Profile) Findings(runID string) func(*unloop.Event) []unloop.Finding {
	w := p.NewSession(runID)
	return func(e *unloop.Event) []unloop.Finding {
		w.Add(e)
		return w.Grown()
	}
}

// Grown returns the findings at the latest event that are new or have grown. It is valid until the next Add.
func (w *Session) Grown() []unloop.Finding { return w.grown }

// Run returns the run that is watched.
func (w *Session) Run() *unloop.Run { return w.run }

// Size estimates the bytes that the watch takes in memory: the run's Size, and that of its warnings.
func (w *Session) Size() int { return w.run.Size() + w.warnings.Size() }

// Warnings returns the run's warnings, sorted by rule, then subject.
func (w *Session) Warnings() []unloop.Finding { return w.warnings.All() }

// Verdict returns how the run as a whole did so far.
func (w *Session) Verdict() policy.Verdict { return w.course.Verdict() }

// Health returns how well the run does.
func (w *Session) Health() policy.Health {
	return policy.HealthOf(w.warnings.All(), w.run.Metrics().Failed, w.profile.penalty)
}

// severityPenalty is the health that a warning costs in profiles that publish no table.
func severityPenalty(f *unloop.Finding) int {
	switch f.Severity {
	case unloop.SeverityCritical:
		return 40
	case unloop.SeverityWarning:
		return 25
	}
	return 10
}
