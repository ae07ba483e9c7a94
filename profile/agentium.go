package profile

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// Agentium has the settings of the profile agentium, which limits equal calls.
type Agentium struct {
	MaxRepeats int    `yaml:"max_repeats" doc:"equal calls that run"`
	Action     string `yaml:"action" doc:"action for further ones: hint (they do not run) or abort (the run halts)"`
	Common     `yaml:",inline"`
}

// AgentiumSettings returns the published defaults.
func AgentiumSettings() *Agentium { return &Agentium{MaxRepeats: 3, Action: "hint"} }

// Validate returns an error that joins all settings out of range, each with its range.
func (s *Agentium) Validate() error {
	var v validation
	v.integer("max_repeats", s.MaxRepeats, 1, 1_000_000)
	v.OneOf("action", s.Action, "hint", "abort")
	return v.Err()
}

func (s *Agentium) profile() *Profile {
	level := policy.Level{From: s.MaxRepeats + 1, Action: policy.Block, Code: "loop-detected"}
	if s.Action == "abort" {
		level.Action = policy.Halt
	}
	table := policy.Table{Rows: []policy.Row{{Rule: "repeat_limit", Levels: []policy.Level{level}}}}
	return &Profile{
		name:      "agentium",
		title:     "a limit on equal calls: further ones are answered with a hint, or abort the run",
		detectors: []unloop.Detector{detect.RepeatLimit{Times: s.MaxRepeats}},
		prefix:    MessagePrefix{Tag: "loop-detected", Text: true},
		policy:    func() policy.Policy { return table },
		penalty:   severityPenalty,
	}
}
