package profile

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

func TestHealthOf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		penalty int
		grade   policy.Grade
		want    policy.Health
	}{
		{"no warnings", 0, policy.GradeHealthy, policy.Health{Score: 100, Status: "healthy"}},
		{"warnings cost points", 60, policy.GradeLooping, policy.Health{Score: 40, Status: "looping"}},
		{"the score of a stuck run with one warning is low", 30, policy.GradeStuck, policy.Health{Score: 19, Status: "stuck"}},
		{"the score of a run that recovered is not low", 90, policy.GradeRepeated, policy.Health{Score: 50, Status: "repeated"}},
		{"warnings without a decision leave a run healthy", 60, policy.GradeHealthy, policy.Health{Score: 80, Status: "healthy"}},
		{"the score does not fall under 0", 120, policy.GradeStuck, policy.Health{Score: 0, Status: "stuck"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, healthOf(tc.penalty, tc.grade)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAPublishedTableGivesTheScoreAndTheScoreGivesTheWord(t *testing.T) {
	p, err := New("looplens")
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewSession("r")
	for k := range 3 {
		s.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "read", Input: fmt.Appendf(nil, `{"path":"a/long/path/%d"}`, k)})
	}
	if diff := cmp.Diff(policy.Health{Score: 35, Status: policy.GradeLooping}, s.Health()); diff != "" {
		t.Errorf("repeated, similar and without progress (-want +got):\n%s", diff)
	}
}

func TestAFailureIsAStatusAndNotALoop(t *testing.T) {
	for name, want := range map[string]int{Default: 100, "agentium": 100, "looplens": 70} { // its published table has 30
		p, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		s := p.NewSession("r")
		s.Add(&unloop.Event{Type: unloop.RunStarted})
		s.Add(&unloop.Event{Type: unloop.RunFailed})
		if got := s.Health(); got != (policy.Health{Score: want, Status: policy.GradeHealthy}) {
			t.Errorf("%s: a failed run without warnings has the health %+v, want the score %d", name, got, want)
		}
	}
}
