// Package profile combines detectors, their settings and a policy into a named Profile, and runs them. A Session folds the
// events of one run, calls the detectors, keeps the warnings and calls the policy. The command line, the guard and the
// server all use it, so they give the same verdicts.
package profile

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/findings"
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
	mistakes := []error{settings.Validate(), common.read(&p.options)}
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

// newPolicy returns a new policy for a run.
func (p *Profile) newPolicy() policy.Policy {
	if p.policy == nil {
		return policy.Report{}
	}
	return p.policy()
}

// Session evaluates one run under a profile. It is not safe for concurrent use.
type Session struct {
	profile  *Profile
	run      *unloop.Run
	policy   policy.Policy
	tools    map[string]policy.Policy // for tools with their own settings
	warnings findings.Warnings
	found    []unloop.Finding
	grown    []unloop.Finding
	course   course
	orders   orders

	opinions   policy.Opinions
	transcript *transcript // nil unless it is kept

	runSize int // of the run's latest binary snapshot, in bytes
}

// NewSession returns a session for a new run.
func (p *Profile) NewSession(runID string) *Session {
	return &Session{profile: p, run: unloop.NewRun(runID, p.options), policy: p.newPolicy()}
}

// Add folds the next event of the run and returns the decision at it. Events must be in the order of the run, once each. The cost
// is that of unloop.Run.Add plus one Check for each detector of the event's kind. The findings in the decision are valid until
// the next Add. A decision can contain a question for a second opinion. The answer is an event, which changes the decisions: see
// policy.Opinions. Add calls neither detectors nor the policy at an answer.
func (s *Session) Add(e *unloop.Event) policy.Decision {
	s.run.Add(e)
	d := s.decide(e)
	own := &d
	if d.Code == policy.CodePerson { // which is independent of how the run does
		own = &policy.Decision{}
	}
	s.course.note(s.run.Current().Ref.Number, own)
	if d.Action != policy.Allow && d.Code != policy.CodePerson {
		d.AfterCall = e.Type == unloop.ToolCallCompleted || e.Type == unloop.ToolCallFailed
		d.AfterMessage = !d.AfterCall && e.Type != unloop.ToolCallStarted
		d.Message = s.profile.Nudge(&d)
	}
	if s.transcript != nil {
		s.transcript.add(e)
		if d.Question != nil {
			d.Question.Steps = slices.Clone(s.transcript.entries)
		}
	}
	return d
}

// decide returns the decision at the latest event, without its text for the agent.
func (s *Session) decide(e *unloop.Event) policy.Decision {
	if e.Type == unloop.SecondOpinion {
		s.found, s.grown = s.found[:0], s.grown[:0]
		return s.opinions.Answer(s.run, e)
	}
	s.found, s.grown = s.found[:0], s.grown[:0]
	if d, own := s.orders.take(e); own {
		return d
	}
	profile, decide := s.rules()
	for _, d := range profile.at[bits.Len8(uint8(s.run.Current().Kinds()))-1] {
		f, ok := d.Check(s.run)
		if !ok {
			continue
		}
		s.found = append(s.found, f)
		if s.warnings.Upsert(f) {
			s.grown = append(s.grown, f)
		}
	}
	s.opinions.Findings(s.run, s.found)
	return s.orders.apply(e, s.opinions.Decide(s.run, s.found, decide.Decide(s.run, s.found, s.grown)))
}

// Nudge returns the text for the agent for a decision.
func (p *Profile) Nudge(d *policy.Decision) string { return p.nudges.Text(d) }

// rules returns the profile and the policy for the tool of the current event.
func (s *Session) rules() (*Profile, policy.Policy) {
	step := s.run.Current().Step
	if step == nil || len(s.profile.tools) == 0 {
		return s.profile, s.policy
	}
	own, ok := s.profile.tools[step.Tool]
	if !ok {
		return s.profile, s.policy
	}
	decide, ok := s.tools[step.Tool]
	if !ok {
		if s.tools == nil {
			s.tools = make(map[string]policy.Policy)
		}
		decide = own.newPolicy()
		s.tools[step.Tool] = decide
	}
	return own, decide
}

// Findings begins a run and returns a function that folds its events. The function takes the next event and returns the
// findings at it that are new or whose count has grown. They are valid until the next call. Package detecttest plays traces
// against it.
func (p *Profile) Findings(runID string) func(*unloop.Event) []unloop.Finding {
	s := p.NewSession(runID)
	return func(e *unloop.Event) []unloop.Finding {
		s.Add(e)
		return s.Grown()
	}
}

// Grown returns the findings at the latest event that are new or whose count has grown. They are valid until the next Add.
func (s *Session) Grown() []unloop.Finding { return s.grown }

// Run returns the run of the session. The caller must not add events to it.
func (s *Session) Run() *unloop.Run { return s.run }

// Size estimates the memory of the session in bytes: the sizes of its run, its warnings and its transcript.
func (s *Session) Size() int { return s.run.Size() + s.warnings.Size() + s.transcript.size() }

// Warnings returns the warnings of the run, sorted by rule, then subject.
func (s *Session) Warnings() []unloop.Finding { return s.warnings.All() }

// Warning returns the warning of a rule and subject, and whether there is one. Its cost does not depend on how many there are.
func (s *Session) Warning(rule, subject string) (unloop.Finding, bool) {
	return s.warnings.Find(rule, subject)
}

// Verdict returns the verdict on the run as a whole so far.
func (s *Session) Verdict() policy.Verdict { return s.course.verdict() }

// Health returns the health of the run so far.
func (s *Session) Health() policy.Health {
	penalty := s.warnings.Penalty(s.profile.penalty)
	if s.profile.failure == 0 {
		return healthOf(penalty, s.course.verdict().Grade)
	}
	h := policy.Health{Score: max(100-penalty, 0), Status: policy.GradeOf(100 - penalty)}
	if s.run.Metrics().Failed {
		h.Score = max(h.Score-s.profile.failure, 0)
	}
	return h
}

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
