package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/findings"
	"github.com/unloop-ai/unloop/internal/snapshot"
)

// Opinion is a second opinion about whether an agent is stuck. A model or a person gives it.
type Opinion struct {
	Stuck     bool    `json:"stuck"`
	Certainty float64 `json:"certainty"`        // from 0 to 1
	Why       string  `json:"why,omitempty"`    // for people
	Advice    string  `json:"advice,omitempty"` // for the agent
}

// MaxAdvice bounds Opinion.Why and Opinion.Advice, in bytes each.
const MaxAdvice = 500

// Validate reports a certainty that is out of range, or a text that is too long.
func (o *Opinion) Validate() error {
	var c snapshot.Check
	c.Amount("certainty", o.Certainty, 1)
	c.Count("bytes of why", len(o.Why), MaxAdvice)
	c.Count("bytes of advice", len(o.Advice), MaxAdvice)
	return c.Err()
}

// Question asks for a second opinion. A policy asks by returning it with a decision. Whoever runs the policy may answer with an
// Event, or not at all: without an answer, the decisions are those without second opinions.
type Question struct {
	ID     string // identifies the evidence; a run asks at most once with an ID
	Number int    // number of the question within the run, from 1
	Stop   bool   // true if the evidence stops the agent now or at the next level; false if it is advisory

	Finding unloop.Finding // the evidence
	Steps   []string       // the latest entries of the run, oldest first; empty unless the session keeps a transcript
}

// Event returns the event that answers the question. It belongs to the run. A recorded run that contains it gives the same
// decisions again.
func (q *Question) Event(o Opinion) (unloop.Event, error) {
	if err := o.Validate(); err != nil {
		return unloop.Event{}, fmt.Errorf("second opinion: %w", err)
	}
	body, err := json.Marshal(o)
	return unloop.Event{ID: "opinion_" + q.ID, Type: unloop.SecondOpinion, CallID: q.ID, Output: body}, err
}

// ReadOpinion returns the opinion of an event that Question.Event made.
func ReadOpinion(e *unloop.Event) (o Opinion, err error) {
	if e.Type != unloop.SecondOpinion {
		return o, errors.New("the event is not a second opinion")
	}
	if err := json.Unmarshal(e.Output, &o); err != nil {
		return Opinion{}, fmt.Errorf("second opinion: %w", err)
	}
	return o, o.Validate()
}

// CodeHeldBack is the code of a decision that would have stopped the agent without a second opinion.
const CodeHeldBack = "held_back"

// leastCertainty is the certainty from which an opinion has an effect.
const leastCertainty = 0.7

// Opinions asks for second opinions about one run and applies them. A session calls Findings before the policy of the profile
// and Decide after it, at each event but the answers.
//
// It asks when the policy acts on advisory evidence alone, and before it stops the agent: at the strong warning before a stop on
// solid evidence, else at the stop. It asks again once the evidence has doubled and grown by 8 events, or when solid evidence
// leads to a stop after a question about advisory evidence. An answer from a certainty of 0.7 on holds until then: one that the
// agent is stuck makes advisory findings solid, and one that it is not makes solid findings advisory and a stop a warning. A
// message of the user, an override and 12 events without evidence end it.
//
// The zero value is ready to use. It is not safe for concurrent use.
type Opinions struct {
	state opinionState
	solid bool // a finding at the current event is solid without an opinion
}

type opinionState struct {
	Held     int     `json:"held,omitempty"`   // events with evidence, since it began
	Latest   int     `json:"latest,omitempty"` // the number of the last of these
	Count    int     `json:"count,omitempty"`  // questions of the run
	Question string  `json:"question,omitempty"`
	Asked    int     `json:"asked,omitempty"` // Held at the question; 0 for none
	Stop     bool    `json:"stop,omitempty"`  // the question was about a stop
	Answered bool    `json:"answered,omitempty"`
	Opinion  Opinion `json:"opinion,omitzero"`

	// The decision that the question is about.
	Action  uint8          `json:"action,omitempty"` // an Action
	Code    string         `json:"code,omitempty"`
	Finding unloop.Finding `json:"finding,omitzero"`
}

// maxIdleEvents is the number of events without evidence that end an opinion.
const maxIdleEvents = 12

// newEvidenceEvents is the number of events by which evidence grows before it is asked about again.
const newEvidenceEvents = 8

// applies reports whether there is a certain opinion about the evidence.
func (s *opinionState) applies() bool {
	return s.Answered && s.Opinion.Certainty >= leastCertainty && s.Held < 2*s.Asked+newEvidenceEvents
}

// Findings applies the second opinion to the findings that hold at the latest event of r: it sets or clears Advisory.
func (o *Opinions) Findings(r *unloop.Run, found []unloop.Finding) {
	s := &o.state
	now := r.Current()
	if s.Held > 0 && (now.Type == unloop.Override || now.Type == unloop.MessageSent && now.Role == unloop.RoleUser || now.Ref.Number-s.Latest > maxIdleEvents) {
		*s = opinionState{Count: s.Count}
	}
	o.solid = false
	for k := range found {
		f := &found[k]
		o.solid = o.solid || solid(f)
		if s.applies() && f.Score >= 1 {
			f.Advisory = !s.Opinion.Stuck
		}
	}
}

// Decide returns the decision d of the policy at the latest event of r, changed by the second opinion if there is one, and with a
// question if one is due.
func (o *Opinions) Decide(r *unloop.Run, found []unloop.Finding, d Decision) Decision {
	s := &o.state
	now := r.Current().Ref
	if worst := strongest(found); d.Action != Allow || worst != nil && worst.Score >= 1 {
		s.Held = min(s.Held+1, snapshot.MaxCount)
		s.Latest = now.Number
	}
	if d.Action == Allow || len(d.Findings) == 0 {
		return d
	}
	stop := d.Action >= Block || o.solid && (d.Code == CodeStrongNudge || d.Code == CodeCycleWarningStrong)
	if stop || strongest(d.Findings).Advisory {
		if s.due(stop && (o.solid || !s.applies())) {
			d.Question = s.ask(now, &d, stop)
			return d
		}
	}
	return s.revise(d)
}

// due reports whether there is new evidence to ask about: none was asked about yet, it has grown enough, or solid evidence leads to a
// stop after a question about advisory evidence.
func (s *opinionState) due(stop bool) bool {
	return s.Asked == 0 || s.Held >= 2*s.Asked+newEvidenceEvents || stop && !s.Stop && !(s.applies() && s.Opinion.Stuck)
}

// ask returns a question about a decision, and keeps what an answer needs.
func (s *opinionState) ask(at unloop.EventRef, d *Decision, stop bool) *Question {
	event := at.ID
	if event == "" {
		event = strconv.Itoa(at.Number)
	}
	s.Count = min(s.Count+1, snapshot.MaxCount)
	s.Question, s.Asked, s.Stop, s.Answered = event+"_"+d.Rule, s.Held, stop, false
	s.Action, s.Code, s.Finding = uint8(d.Action), d.Code, findings.Named(d.Findings, d.Message)
	return &Question{ID: s.Question, Number: s.Count, Stop: stop, Finding: s.Finding}
}

// Answer returns the decision at an answer, which is e, the latest event of r. It allows at an answer to another question than the last
// one, at a second answer, at an invalid answer, and at one with a certainty below 0.7.
func (o *Opinions) Answer(r *unloop.Run, e *unloop.Event) Decision {
	s := &o.state
	opinion, err := ReadOpinion(e)
	if err != nil || s.Asked == 0 || s.Answered || e.CallID != s.Question || r.Current().Ref.Number-s.Latest > maxIdleEvents {
		return Decision{}
	}
	s.Answered, s.Opinion = true, opinion
	if !s.applies() {
		return Decision{}
	}
	f := s.Finding
	return s.revise(decisionOn(&f, Action(s.Action), s.Code, []unloop.Finding{f}))
}

// revise applies the opinion to a decision.
func (s *opinionState) revise(d Decision) Decision {
	if !s.applies() {
		return d
	}
	opinion := s.Opinion
	d.Opinion = &opinion
	if !opinion.Stuck && d.Action >= Block {
		d.Action, d.Code = Warn, CodeHeldBack
	}
	return d
}

// Snapshot returns the state as JSON, or nil if there is nothing to keep.
func (o *Opinions) Snapshot() ([]byte, error) {
	if o.state.Held == 0 && o.state.Count == 0 {
		return nil, nil
	}
	data, err := json.Marshal(&o.state)
	if err != nil {
		return nil, fmt.Errorf("write second opinions: %w", err)
	}
	return data, nil
}

// Restore replaces the state by one that Snapshot returned. On an error, o is unchanged.
func (o *Opinions) Restore(data []byte) error {
	if err := restore(&o.state, data); err != nil {
		return fmt.Errorf("restore second opinions: %w", err)
	}
	return nil
}

// validate reports the first value that no Opinions can have written.
func (s opinionState) validate() error {
	var c snapshot.Check
	c.Count("held", s.Held, snapshot.MaxCount)
	c.Count("latest", s.Latest, snapshot.MaxCount)
	c.Count("count", s.Count, snapshot.MaxCount)
	c.Count("asked", s.Asked, s.Held)
	c.Count("action", int(s.Action), int(Halt))
	c.Part("opinion", s.Opinion.Validate())
	c.Part("finding", findings.Validate(&s.Finding))
	return c.Err()
}
