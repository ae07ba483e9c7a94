package profile

import "github.com/unloop-ai/unloop/policy"

// failedPenalty is the penalty of a run that ended in failure.
const failedPenalty = 30

// healthOf returns the health of a run: 100 less the penalty of its warnings, less 30 if the run failed, and at least 0.
func healthOf(penalty int, failed bool, grade policy.Grade) policy.Health {
	score := 100 - penalty
	if failed {
		score -= failedPenalty
	}
	return policy.Health{Score: max(score, 0), Status: grade}
}
