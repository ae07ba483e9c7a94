package profile

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// Attocode has the settings of the profile attocode, which reports doom loops, failing tests, failing shells and messages
// without calls.
type Attocode struct {
	Window          int `yaml:"window" doc:"latest calls in which a doom loop is detected"`
	ExactThreshold  int `yaml:"exact_threshold" doc:"calls in a row with the same arguments"`
	FuzzyThreshold  int `yaml:"fuzzy_threshold" doc:"calls in a row with the same target"`
	StrongThreshold int `yaml:"strong_threshold" doc:"calls in a row that get a stronger warning"`
	RejectThreshold int `yaml:"reject_threshold" doc:"calls in a row that no longer run"`
	TestFailures    int `yaml:"test_failures" doc:"test runs in a row"`
	ShellFailures   int `yaml:"shell_failures" doc:"shell calls in a row"`
	TextTurns       int `yaml:"text_turns" doc:"messages in a row without a call"`
	GlobalCalls     int `yaml:"global_calls" doc:"equal calls of a swarm"`
	GlobalWorkers   int `yaml:"global_workers" doc:"minimum number of workers that made them"`
	Common          `yaml:",inline"`
}

// AttocodeSettings returns the published defaults.
func AttocodeSettings() *Attocode {
	return &Attocode{
		Window: 10, ExactThreshold: 3, FuzzyThreshold: 4, StrongThreshold: 4, RejectThreshold: 6,
		TestFailures: 3, ShellFailures: 3, TextTurns: 2, GlobalCalls: 10, GlobalWorkers: 2,
	}
}

// Validate returns an error that joins all settings out of range, each with its range.
func (s *Attocode) Validate() error {
	var v validation
	v.integer("window", s.Window, 2, 32)
	v.integer("exact_threshold", s.ExactThreshold, 2, 32)
	v.integer("fuzzy_threshold", s.FuzzyThreshold, 2, 32)
	v.integer("strong_threshold", s.StrongThreshold, 2, 32)
	v.integer("reject_threshold", s.RejectThreshold, 2, 32)
	v.integer("test_failures", s.TestFailures, 1, 1000)
	v.integer("shell_failures", s.ShellFailures, 1, 1000)
	v.integer("text_turns", s.TextTurns, 1, 1000)
	v.integer("global_calls", s.GlobalCalls, 2, 1_000_000)
	v.integer("global_workers", s.GlobalWorkers, 1, 64)
	return v.Err()
}

func (s *Attocode) profile() *Profile {
	warn := func(rule string) policy.Row {
		return policy.Row{Rule: rule, Levels: []policy.Level{{From: 1, Action: policy.Warn, Code: rule}}}
	}
	table := policy.Table{Rows: []policy.Row{
		{Rule: "doom_loop", Levels: []policy.Level{
			{From: 1, Action: policy.Warn, Code: "doom_loop"},
			{From: s.StrongThreshold, Action: policy.Warn, Code: "doom_loop_strong"},
			{From: s.RejectThreshold, Action: policy.Block, Code: "doom_loop_rejected"},
		}},
		warn("test_fix_cycle"), warn("failure_cascade"), warn("summary_loop"),
	}}
	return &Profile{
		name:  "attocode",
		title: "doom loops, failing tests and shells, messages without tool calls; warns in three levels, then rejects",
		detectors: []unloop.Detector{
			detect.DoomLoop{Window: s.Window, Exact: s.ExactThreshold, Fuzzy: s.FuzzyThreshold},
			detect.TestFixCycle{Times: s.TestFailures},
			detect.FailureCascade{Times: s.ShellFailures},
			detect.SummaryLoop{Times: s.TextTurns},
		},
		prefix:  MessagePrefix{Tag: "loop-guard"},
		swarm:   Swarm{Calls: s.GlobalCalls, Workers: s.GlobalWorkers},
		options: unloop.Options{Shells: unloop.DefaultShells()},
		policy:  func() policy.Policy { return table },
		penalty: severityPenalty,
	}
}
