package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
)

// reviewed plays events against a ladder with second opinions.
type reviewed struct {
	run      *unloop.Run
	ladder   *Ladder
	opinions Opinions
	asked    []*Question
	decided  []Action
}

func newReviewed() *reviewed {
	return &reviewed{run: unloop.NewRun("r", unloop.Options{}), ladder: &Ladder{Patience: 2}}
}

// add adds an event at which the findings hold.
func (p *reviewed) add(e unloop.Event, found ...unloop.Finding) Decision {
	e.ID = fmt.Sprint("e", p.run.Metrics().Events)
	p.run.Add(&e)
	p.opinions.Findings(p.run, found)
	d := p.opinions.Decide(p.run, found, p.ladder.Decide(p.run, found, found))
	if d.Question != nil {
		p.asked = append(p.asked, d.Question)
	}
	p.decided = append(p.decided, d.Action)
	return d
}

func (p *reviewed) evidence(advisory bool) Decision {
	f := unloop.Finding{Rule: "rule", Subject: "tool", Score: 1, Advisory: advisory, What: "what"}
	return p.add(unloop.Event{Type: unloop.StateUpdated}, f)
}

func (p *reviewed) answer(t *testing.T, o Opinion) Decision {
	t.Helper()
	e, err := p.asked[len(p.asked)-1].Event(o)
	if err != nil {
		t.Fatal(err)
	}
	p.run.Add(&e)
	return p.opinions.Answer(p.run, &e)
}

func TestAdvisoryEvidenceIsAskedAboutOnce(t *testing.T) {
	p := newReviewed()
	for range 8 {
		p.evidence(true)
	}
	if len(p.asked) != 1 || p.asked[0].Stop || p.asked[0].Number != 1 {
		t.Fatalf("%d questions, want 1 and not about a stop", len(p.asked))
	}
	for range 40 {
		p.evidence(true)
	}
	if len(p.asked) != 3 || p.asked[1].ID == p.asked[2].ID {
		t.Errorf("%d questions about 48 events of evidence, want 3: at 1, 10 and 28", len(p.asked))
	}
}

func TestAnOpinionThatTheAgentIsStuckMakesAdvisoryEvidenceStop(t *testing.T) {
	without, with := newReviewed(), newReviewed()
	for k := range 8 {
		without.evidence(true)
		with.evidence(true)
		if k == 0 {
			d := with.answer(t, Opinion{Stuck: true, Certainty: 0.9, Advice: "read the error"})
			if d.Action != Warn || d.Opinion == nil || d.Opinion.Advice != "read the error" {
				t.Errorf("at the answer the decision is %+v, want a warning with the advice", d)
			}
		}
	}
	if diff := cmp.Diff([]Action{Warn, Allow, Warn, Allow, Warn, Allow, Warn, Allow}, without.decided); diff != "" {
		t.Error("without an opinion:", diff)
	}
	if diff := cmp.Diff([]Action{Warn, Allow, Warn, Allow, Block, Allow, Halt, Allow}, with.decided); diff != "" {
		t.Error("with an opinion:", diff)
	}
}

func TestAnOpinionThatTheAgentWorksPreventsAStop(t *testing.T) {
	p := newReviewed()
	for range 3 {
		p.evidence(false)
	}
	if len(p.asked) != 1 || !p.asked[0].Stop {
		t.Fatalf("%d questions, want 1 before the stop", len(p.asked))
	}
	p.answer(t, Opinion{Stuck: false, Certainty: 0.8})
	for range 4 {
		if d := p.evidence(false); d.Action > Warn {
			t.Fatalf("the opinion does not hold back %v", d.Action)
		}
	}
	for range 30 {
		p.evidence(false)
	}
	if len(p.asked) < 2 || p.decided[len(p.decided)-2] < Halt && p.decided[len(p.decided)-1] < Halt {
		t.Error("want a second question after the evidence has doubled, and a stop without an answer")
	}
}

func TestAnAnswerPreventsAStop(t *testing.T) {
	p := newReviewed()
	p.opinions.solid = true
	stop := Decision{Action: Halt, Code: CodeHalted, Findings: []unloop.Finding{{Rule: "rule", Score: 1}}}
	e := unloop.Event{ID: "e", Type: unloop.StateUpdated}
	p.run.Add(&e)
	d := p.opinions.Decide(p.run, stop.Findings, stop)
	if d.Action != Halt || d.Question == nil || !d.Question.Stop {
		t.Fatalf("without an answer the decision is %+v, want the stop with a question", d)
	}
	p.asked = append(p.asked, d.Question)
	if d := p.answer(t, Opinion{Certainty: 1}); d.Action != Warn || d.Code != CodeHeldBack {
		t.Errorf("at the answer the decision is %v %s, want a warning that is held back", d.Action, d.Code)
	}
}

func TestSolidEvidenceIsAskedAboutAfterAdvisoryEvidence(t *testing.T) {
	p := newReviewed()
	p.evidence(true)
	p.answer(t, Opinion{Stuck: false, Certainty: 1})
	for range 2 {
		p.evidence(false)
	}
	if len(p.asked) != 2 || !p.asked[1].Stop {
		t.Errorf("%d questions, want another before the stop, because its evidence differs", len(p.asked))
	}
}

func TestAnswersWithoutEffect(t *testing.T) {
	for name, answer := range map[string]func(e *unloop.Event){
		"an uncertain opinion":          func(e *unloop.Event) { e.Output = []byte(`{"stuck":true,"certainty":0.5}`) },
		"an answer to another question": func(e *unloop.Event) { e.CallID = "other" },
		"no JSON":                       func(e *unloop.Event) { e.Output = []byte(`stuck`) },
		"a certainty over 1":            func(e *unloop.Event) { e.Output = []byte(`{"stuck":true,"certainty":2}`) },
		"no output":                     func(e *unloop.Event) { e.Output = nil },
	} {
		t.Run(name, func(t *testing.T) {
			p := newReviewed()
			p.evidence(true)
			e, err := p.asked[0].Event(Opinion{Stuck: true, Certainty: 1})
			if err != nil {
				t.Fatal(err)
			}
			answer(&e)
			p.run.Add(&e)
			if d := p.opinions.Answer(p.run, &e); d.Action != Allow || d.Opinion != nil {
				t.Errorf("the decision is %+v, want none", d)
			}
			for range 7 {
				if d := p.evidence(true); d.Action > Warn {
					t.Errorf("advisory evidence leads to %v", d.Action)
				}
			}
		})
	}
}

func TestAMessageOfTheUserEndsAnOpinion(t *testing.T) {
	p := newReviewed()
	p.evidence(true)
	p.answer(t, Opinion{Stuck: true, Certainty: 1})
	p.add(unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleUser})
	p.evidence(true)
	for range 6 {
		if d := p.evidence(true); d.Action > Warn {
			t.Fatalf("advisory evidence leads to %v after a message of the user", d.Action)
		}
	}
	if len(p.asked) != 2 || p.asked[1].Number != 2 {
		t.Errorf("%d questions, want another after the message", len(p.asked))
	}
}

func TestInvalidAnswersAreErrors(t *testing.T) {
	var q Question
	for _, o := range []Opinion{{Certainty: -1}, {Certainty: 1.1}, {Advice: strings.Repeat("x", MaxAdvice+1)}} {
		if _, err := q.Event(o); err == nil {
			t.Errorf("no error for %+v", o)
		}
	}
}

// Whatever happens, a run asks no question twice, and its state can be restored.
func TestNoQuestionIsAskedTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newReviewed()
		ids := make(map[string]bool)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before := len(p.asked)
			switch rapid.IntRange(0, 4).Draw(t, "kind") {
			case 0:
				p.add(unloop.Event{Type: unloop.StateUpdated})
			case 1:
				p.evidence(true)
			case 2:
				p.evidence(false)
			case 3:
				p.add(unloop.Event{Type: unloop.MessageSent, Role: unloop.RoleUser})
			case 4:
				if before > 0 {
					o := Opinion{Stuck: rapid.Bool().Draw(t, "stuck"), Certainty: rapid.Float64Range(0, 1).Draw(t, "certainty")}
					e, err := p.asked[before-1].Event(o)
					if err != nil {
						t.Fatal(err)
					}
					p.run.Add(&e)
					if d := p.opinions.Answer(p.run, &e); d.Action >= Block && !o.Stuck {
						t.Fatalf("an opinion that the agent works leads to %v", d.Action)
					}
				}
			}
			for _, q := range p.asked[before:] {
				if ids[q.ID] {
					t.Fatalf("question %s was asked twice", q.ID)
				}
				ids[q.ID] = true
			}
			if err := p.opinions.state.validate(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
