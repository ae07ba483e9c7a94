package profile

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// LoopLens has the settings of the profile looplens: ten rules over the whole run and a health score. It warns and takes no
// other action.
type LoopLens struct {
	RepeatWindow   int     `yaml:"repeat_window" doc:"latest tool calls that repeated_tool_call examines"`
	RepeatTimes    int     `yaml:"repeat_threshold" doc:"calls, results or handoffs that are a repetition"`
	Similarity     float64 `yaml:"similarity" doc:"minimum similarity of similar inputs, 0 to 1"`
	RetryTimes     int     `yaml:"retry_threshold" doc:"retries that are a storm"`
	LongStep       float64 `yaml:"long_step_ms" doc:"milliseconds, above which a step is long"`
	CostSpikeShare float64 `yaml:"cost_spike_share" doc:"share of the run's cost so far that is a spike, 0 to 1"`
	CostSpikeFloor float64 `yaml:"cost_spike_floor" doc:"US dollars, below which no event is a spike"`
	CostBudget     float64 `yaml:"cost_budget" doc:"US dollars for a run; 0 means no budget"`
	Common         `yaml:",inline"`
}

// LoopLensSettings returns the published defaults.
func LoopLensSettings() *LoopLens {
	return &LoopLens{
		RepeatWindow: 8, RepeatTimes: 3, Similarity: 0.85, RetryTimes: 3,
		LongStep: 30_000, CostSpikeShare: 0.5, CostSpikeFloor: 0.05,
	}
}

// Validate returns an error that joins all settings out of range, each with its range.
func (s *LoopLens) Validate() error {
	var v validation
	v.integer("repeat_window", s.RepeatWindow, 1, 32)
	v.integer("repeat_threshold", s.RepeatTimes, 2, 64)
	v.number("similarity", s.Similarity, 0.5, 1)
	v.integer("retry_threshold", s.RetryTimes, 1, 1000)
	v.number("long_step_ms", s.LongStep, 1, 1e9)
	v.number("cost_spike_share", s.CostSpikeShare, 0, 1)
	v.number("cost_spike_floor", s.CostSpikeFloor, 0, 1e6)
	v.number("cost_budget", s.CostBudget, 0, 1e9)
	return v.Err()
}

func (s *LoopLens) profile() *Profile {
	return &Profile{
		name:  "looplens",
		title: "ten rules over the whole run, a health score; warns only",
		detectors: []unloop.Detector{
			detect.RepeatedToolCall{Window: s.RepeatWindow, Times: s.RepeatTimes},
			detect.RepeatedToolCallSimilarInput{Times: s.RepeatTimes, Similarity: s.Similarity},
			detect.RepeatedToolCallExactInput{Times: s.RepeatTimes},
			detect.NoProgress{Times: s.RepeatTimes},
			detect.EmptyResultLoop{Times: s.RepeatTimes},
			detect.RetryStorm{Times: s.RetryTimes},
			detect.LongRunningStep{Milliseconds: s.LongStep},
			detect.CostSpike{Share: s.CostSpikeShare, Floor: s.CostSpikeFloor},
			detect.CostBudgetExceeded{Budget: s.CostBudget},
			detect.HandoffBounce{Times: s.RepeatTimes},
		},
		prefix:  MessagePrefix{Tag: "loop-guard"},
		policy:  func() policy.Policy { return policy.Report{} },
		penalty: loopLensPenalty, failure: 30,
	}
}

// loopLensPenalty is the published table of penalties.
func loopLensPenalty(f *unloop.Finding) int {
	switch f.Rule {
	case "no_progress":
		return 30
	case "repeated_tool_call_exact_input":
		return 25
	case "repeated_tool_call_similar_input", "empty_result_loop", "retry_storm", "handoff_bounce":
		return 20
	case "repeated_tool_call", "cost_spike", "cost_budget_exceeded":
		return 15
	}
	return 10
}
