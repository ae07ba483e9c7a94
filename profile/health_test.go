package profile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/policy"
)

func TestHealthOf(t *testing.T) {
	for _, tc := range []struct {
		name      string
		penalties []int
		failed    bool
		want      policy.Health
	}{
		{"no warnings", nil, false, policy.Health{Score: 100, Status: policy.Healthy}},
		{"the last healthy score", []int{20}, false, policy.Health{Score: 80, Status: policy.Healthy}},
		{"the first troubled score", []int{20, 1}, false, policy.Health{Score: 79, Status: policy.Degraded}},
		{"the last troubled score", []int{30, 20}, false, policy.Health{Score: 50, Status: policy.Degraded}},
		{"the first that is likely stuck", []int{30, 21}, false, policy.Health{Score: 49, Status: policy.LikelyStuck}},
		{"it does not fall under 0", []int{60, 60}, false, policy.Health{Score: 0, Status: policy.LikelyStuck}},
		{"a failed run loses 30 and has failed", nil, true, policy.Health{Score: 70, Status: policy.Failed}},
		{"a failed run does not fall under 0 either", []int{60, 30}, true, policy.Health{Score: 0, Status: policy.Failed}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			penalty := 0
			for _, p := range tc.penalties {
				penalty += p
			}
			got := healthOf(penalty, tc.failed)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
