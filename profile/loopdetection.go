package profile

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// LoopDetection has the settings of the profile loopdetection, which reports equal calls, stuck polls and alternation within
// a window.
type LoopDetection struct {
	HistorySize       int `yaml:"history_size" doc:"latest calls that are examined"`
	WarnThreshold     int `yaml:"warn_threshold" doc:"calls that cause a warning"`
	CriticalThreshold int `yaml:"critical_threshold" doc:"calls that cause a block"`
	Common            `yaml:",inline"`
}

// LoopDetectionSettings returns the published defaults.
func LoopDetectionSettings() *LoopDetection {
	return &LoopDetection{HistorySize: 30, WarnThreshold: 10, CriticalThreshold: 20}
}

// Validate returns an error that joins all settings out of range, each with its range.
func (s *LoopDetection) Validate() error {
	var v validation
	v.integer("history_size", s.HistorySize, 2, 32)
	v.integer("warn_threshold", s.WarnThreshold, 2, 32)
	v.integer("critical_threshold", s.CriticalThreshold, 2, 32)
	return v.Err()
}

func (s *LoopDetection) profile() *Profile {
	row := func(rule string) policy.Row {
		return policy.Row{Rule: rule, Levels: []policy.Level{
			{From: s.WarnThreshold, Action: policy.Warn, Code: rule},
			{From: s.CriticalThreshold, Action: policy.Block, Code: rule},
		}}
	}
	table := policy.Table{Strongest: true, Rows: []policy.Row{row("generic_repeat"), row("poll_no_progress"), row("ping_pong")}}
	times := min(s.WarnThreshold, s.CriticalThreshold)
	return &Profile{
		name:  "loopdetection",
		title: "equal calls, stuck polls and alternation within the last 30 calls; warns, blocks",
		detectors: []unloop.Detector{
			detect.GenericRepeat{Window: s.HistorySize, Times: times},
			detect.PollNoProgress{Window: s.HistorySize, Times: times},
			detect.PingPong{Times: times},
		},
		prefix:  MessagePrefix{Tag: "loop-guard"},
		options: unloop.Options{EffectByName: loopDetectionEffect},
		policy:  func() policy.Policy { return table },
		penalty: severityPenalty,
	}
}

// loopDetectionEffect returns Polling for a name with one of the words below, and Mutating otherwise.
func loopDetectionEffect(name string) unloop.Effect {
	polls := []string{"status", "poll", "check", "wait", "ping", "health"}
	for word := range unloop.Words(name) {
		if slices.Contains(polls, word) {
			return unloop.Polling
		}
	}
	return unloop.Mutating
}
