package detect_test

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
)

// suite lists every detector once for each of its rules, with the settings of the profile that has it. A new one is added at the end. The
// estimate of StalledSteps is lower, so that a model that is trained anew seldom changes a trace.
func suite() []unloop.Detector {
	return []unloop.Detector{
		detect.RepeatedToolCall{Window: 8, Times: 3},
		detect.RepeatedToolCallSimilarInput{Times: 3, Similarity: 0.85},
		detect.RepeatedToolCallExactInput{Times: 3},
		detect.NoProgress{Times: 3},
		detect.EmptyResultLoop{Times: 3},
		detect.RetryStorm{Times: 3},
		detect.LongRunningStep{Milliseconds: 30_000},
		detect.CostSpike{Share: 0.5, Floor: 0.05},
		detect.CostBudgetExceeded{Budget: 0.5},
		detect.HandoffBounce{Times: 3},
		detect.SameCallSameResult{Weight: 2.3, Failures: 4},
		detect.Cycle{Rounds: 3, Steps: 4},
		detect.SameResult{Times: 4, Nothing: 6, Items: 24},
		detect.SameError{Times: 4, Stubborn: 4.3},
		detect.StuckPolling{Times: 8},
		detect.RepeatedMessage{Times: 3},
		detect.RepeatingText{Times: 5, Bytes: 200},
		detect.RestatedMessages{Messages: 1.2},
		detect.StalledSteps{Estimate: 0.75, Steps: 2, Certain: 4, Stuck: 12},
		detect.StalledTalk{Messages: 2},
		detect.IdleHandoffs{Times: 4, Bare: 6},
		detect.RepeatLimit{Times: 3},
		detect.CallCycle{Longest: 3},
		detect.DoomLoop{Window: 10, Exact: 3, Fuzzy: 4},
		detect.TestFixCycle{Times: 3},
		detect.FailureCascade{Times: 3},
		detect.SummaryLoop{Times: 2},
		detect.TurnTime{Seconds: 120},
		detect.UnchangedResult{Times: 4},
		detect.TurnCalls{Effect: unloop.ReadOnly, Times: 5, Strict: true},
		detect.TurnCalls{Effect: unloop.Mutating, Times: 3, Strict: true},
		detect.GenericRepeat{Window: 30, Times: 10},
		detect.PollNoProgress{Window: 30, Times: 10},
		detect.PingPong{Times: 10},
	}
}
