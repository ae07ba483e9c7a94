package profile

import (
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
		{"warnings cost points, and the word is the grade", 51, policy.GradeLooping, policy.Health{Score: 49, Status: "looping"}},
		{"the score does not fall under 0", 120, policy.GradeStuck, policy.Health{Score: 0, Status: "stuck"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, healthOf(tc.penalty, tc.grade)); diff != "" {
				t.Error(diff)
			}
		})
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
