package profile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/policy"
)

func TestHealthOf(t *testing.T) {
	for _, tc := range []struct {
		name    string
		penalty int
		failed  bool
		grade   policy.Grade
		want    policy.Health
	}{
		{"no warnings", 0, false, policy.GradeHealthy, policy.Health{Score: 100, Status: "healthy"}},
		{"warnings cost points, and the word is the grade", 51, false, policy.GradeLooping, policy.Health{Score: 49, Status: "looping"}},
		{"the score does not fall under 0", 120, false, policy.GradeStuck, policy.Health{Score: 0, Status: "stuck"}},
		{"a failed run loses 30, and its health is not a status", 0, true, policy.GradeHealthy, policy.Health{Score: 70, Status: "healthy"}},
		{"a failed run does not fall under 0 either", 90, true, policy.GradeRepeated, policy.Health{Score: 0, Status: "repeated"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, healthOf(tc.penalty, tc.failed, tc.grade)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
