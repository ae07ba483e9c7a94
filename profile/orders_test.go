package profile

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// decided plays events, then n equal calls with equal results, and returns the most severe decision about the calls.
func decided(t *testing.T, s *Session, n int, events ...unloop.Event) policy.Action {
	t.Helper()
	for k := range events {
		s.Add(&events[k])
	}
	worst := policy.Allow
	for range n {
		for _, kind := range []unloop.EventType{unloop.ToolCallStarted, unloop.ToolCallCompleted} {
			e := unloop.Event{Type: kind, Tool: "poll", Input: []byte(`{}`), Output: []byte(`"same"`)}
			worst = max(worst, s.Add(&e).Action)
		}
	}
	return worst
}

func TestPeopleDecideBeforeThePolicy(t *testing.T) {
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	halt := unloop.Event{Type: unloop.Control, Name: unloop.ControlHalt, Text: "Enough."}
	resume := unloop.Event{Type: unloop.Control, Name: unloop.ControlResume}
	override := unloop.Event{Type: unloop.Override}
	tool := unloop.Event{Type: unloop.Override, Tool: "poll"}
	for _, tc := range []struct {
		name   string
		orders []unloop.Event
		calls  int
		want   policy.Action
	}{
		{"nobody", nil, 40, policy.Halt},
		{"a halt ends the run at its next call", []unloop.Event{halt}, 1, policy.Halt},
		{"a resume takes the halt back", []unloop.Event{halt, resume}, 1, policy.Allow},
		{"an override takes the halt back", []unloop.Event{halt, override}, 1, policy.Allow},
		{"an allowed tool is left alone", []unloop.Event{tool}, 40, policy.Allow},
		{"a halt counts for an allowed tool, too", []unloop.Event{tool, halt}, 1, policy.Halt},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := decided(t, p.NewSession("r"), tc.calls, tc.orders...); got != tc.want {
				t.Errorf("the decision is %s, want %s", got, tc.want)
			}
			s := p.NewSession("r")
			for k := range tc.orders {
				s.Add(&tc.orders[k])
			}
			data, err := s.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			again, err := p.Restore(data)
			if err != nil {
				t.Fatal(err)
			}
			if got := decided(t, again, tc.calls); got != tc.want {
				t.Errorf("restored, the decision is %s, want %s", got, tc.want)
			}
		})
	}
}

func TestANudgeOfAPersonIsADecisionAndNoWarning(t *testing.T) {
	p, err := New(Default)
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewSession("r")
	d := s.Add(&unloop.Event{Type: unloop.Control, Name: unloop.ControlNudge, Text: "Read the index."})
	if d.Action != policy.Warn || d.Code != policy.CodePerson || !strings.HasSuffix(d.Message, ": Read the index.") {
		t.Errorf("decision %+v", d)
	}
	if v := s.Verdict(); v.Grade != policy.GradeHealthy {
		t.Errorf("verdict %+v", v)
	}
}
