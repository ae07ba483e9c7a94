package profile

import (
	"math/bits"
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/findings"
	"github.com/unloop-ai/unloop/policy"
)

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
func (s *Session) Add(e *unloop.Event) (d policy.Decision) {
	s.run.Add(e)
	s.decide(e, &d)
	s.course.note(s.run.Current().Ref.Number, &d)
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

// decide sets d, which is the zero Decision, to the decision at the latest event, without its text for the agent. Decisions and findings are
// large, so it copies none at an event without any.
func (s *Session) decide(e *unloop.Event, d *policy.Decision) {
	s.found, s.grown = s.found[:0], s.grown[:0]
	if e.Type == unloop.SecondOpinion {
		*d = s.opinions.Answer(s.run, e)
		return
	}
	if s.orders.take(e, d) {
		return
	}
	profile, decide := s.rules()
	for _, rule := range profile.at[bits.Len8(uint8(s.run.Current().Kinds()))-1] {
		s.check(rule)
	}
	s.opinions.Findings(s.run, s.found)
	*d = decide.Decide(s.run, s.found, s.grown)
	if d.Action != policy.Allow || len(s.found) > 0 { // else there is nothing to have an opinion about
		*d = s.opinions.Decide(s.run, s.found, *d)
	}
	s.orders.apply(e, d)
}

// check keeps the finding of a detector at the latest event.
func (s *Session) check(rule unloop.Detector) {
	f, ok := rule.Check(s.run)
	if !ok {
		return
	}
	s.found = append(s.found, f)
	if s.warnings.Upsert(f) {
		s.grown = append(s.grown, f)
	}
}

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
	return own, s.policyOf(step.Tool, own)
}

// policyOf returns the policy for a tool with its own settings, which are those of the profile own.
func (s *Session) policyOf(tool string, own *Profile) policy.Policy {
	if known, ok := s.tools[tool]; ok {
		return known
	}
	if s.tools == nil {
		s.tools = make(map[string]policy.Policy)
	}
	s.tools[tool] = own.newPolicy()
	return s.tools[tool]
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
