package profile

import "github.com/unloop-ai/unloop/policy"

// failedPenalty is the penalty of a run that ended in failure.
const failedPenalty = 30

// healthOf returns the health of a run: 100 less the penalty of its warnings, less 30 if the run failed, and at least 0. The
// status of a failed run is policy.Failed, whatever its score.
func healthOf(penalty int, failed bool) policy.Health {
	score := 100 - penalty
	if failed {
		score -= failedPenalty
	}
	score = max(score, 0)
	switch {
	case failed:
		return policy.Health{Score: score, Status: policy.Failed}
	case score >= 80:
		return policy.Health{Score: score, Status: policy.Healthy}
	case score >= 50:
		return policy.Health{Score: score, Status: policy.Degraded}
	}
	return policy.Health{Score: score, Status: policy.LikelyStuck}
}
