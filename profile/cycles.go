package profile

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// Cycles has the settings of the profile cycles, which reports patterns of calls that repeat without a gap.
type Cycles struct {
	LongestCycle int `yaml:"longest_cycle" doc:"calls in the longest pattern that is detected"`
	Common       `yaml:",inline"`
}

// CyclesSettings returns the published defaults.
func CyclesSettings() *Cycles { return &Cycles{LongestCycle: 3} }

// Validate returns an error that joins all settings out of range, each with its range.
func (s *Cycles) Validate() error {
	var v validation
	v.integer("longest_cycle", s.LongestCycle, 1, unloop.MaxPeriod)
	return v.Err()
}

func (s *Cycles) profile() *Profile {
	return &Profile{
		name:      "cycles",
		title:     "patterns of calls that repeat without a gap; warns twice, then halts",
		detectors: []unloop.Detector{detect.CallCycle{Longest: s.LongestCycle}},
		prefix:    MessagePrefix{Tag: "loop-guard"},
		policy:    func() policy.Policy { return new(policy.Escalation) },
		penalty:   severityPenalty,
	}
}
