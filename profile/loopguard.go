package profile

import (
	"slices"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// LoopGuard has the settings of the profile loopguard, which limits the calls of each tool in a turn.
type LoopGuard struct {
	Enabled         bool     `yaml:"enabled" doc:"false allows everything"`
	Strict          bool     `yaml:"strict" doc:"counts block and halt even if results change"`
	IdempotentWarn  int      `yaml:"idempotent_warn_threshold" doc:"calls in a turn of a tool that only reads, that cause a warning"`
	IdempotentBlock int      `yaml:"idempotent_block_threshold" doc:"the same, that cause a block"`
	IdempotentHalt  int      `yaml:"idempotent_halt_threshold" doc:"the same, that halt the run"`
	MutatingWarn    int      `yaml:"mutating_warn_threshold" doc:"calls in a turn of any other tool, that cause a warning"`
	MutatingBlock   int      `yaml:"mutating_block_threshold" doc:"the same, that cause a block"`
	MutatingHalt    int      `yaml:"mutating_halt_threshold" doc:"the same, that halt the run"`
	MaxTimePerTurn  float64  `yaml:"max_time_per_turn" doc:"seconds, after which the run halts"`
	NoProgressWarn  int      `yaml:"no_progress_warn" doc:"equal results of a tool in a row, that cause a warning"`
	NoProgressHalt  int      `yaml:"no_progress_halt" doc:"the same, that halt the run"`
	IdempotentTools []string `yaml:"idempotent_tools" doc:"tools that only read, whatever their names are"`
	MutatingTools   []string `yaml:"mutating_tools" doc:"tools that do more than read"`
	Common          `yaml:",inline"`
}

// LoopGuardSettings returns the published defaults.
func LoopGuardSettings() *LoopGuard {
	return &LoopGuard{
		Enabled: true, Strict: true,
		IdempotentWarn: 5, IdempotentBlock: 8, IdempotentHalt: 12,
		MutatingWarn: 3, MutatingBlock: 5, MutatingHalt: 7,
		MaxTimePerTurn: 120, NoProgressWarn: 4, NoProgressHalt: 8,
		IdempotentTools: []string{
			"read_file", "list_files", "search_files", "web_search", "get_memory", "git_status", "git_log", "git_diff", "db_query",
			"glob", "grep", "fetch_url", "sql_select", "http_get",
		},
		MutatingTools: []string{
			"write_file", "edit_file", "delete_file", "execute_code", "shell", "bash", "git_commit", "git_push", "sql_insert",
			"sql_update", "sql_delete", "install_package", "http_post",
		},
	}
}

// Validate returns an error that joins all settings out of range, each with its range.
func (s *LoopGuard) Validate() error {
	var v validation
	for _, f := range []struct {
		name  string
		value int
	}{
		{"idempotent_warn_threshold", s.IdempotentWarn},
		{"idempotent_block_threshold", s.IdempotentBlock},
		{"idempotent_halt_threshold", s.IdempotentHalt},
		{"mutating_warn_threshold", s.MutatingWarn},
		{"mutating_block_threshold", s.MutatingBlock},
		{"mutating_halt_threshold", s.MutatingHalt},
		{"no_progress_warn", s.NoProgressWarn},
		{"no_progress_halt", s.NoProgressHalt},
	} {
		v.integer(f.name, f.value, 1, 1_000_000)
	}
	v.number("max_time_per_turn", s.MaxTimePerTurn, 0.001, 1e9)
	return v.Err()
}

func (s *LoopGuard) profile() *Profile {
	calls := func(effect unloop.Effect, warn int) unloop.Detector {
		return detect.TurnCalls{Effect: effect, Times: warn, Strict: s.Strict}
	}
	p := &Profile{
		name:  "loopguard",
		title: "budgets of calls for each tool and turn, by what the tool does; warns, blocks, halts",
		detectors: []unloop.Detector{
			detect.TurnTime{Seconds: s.MaxTimePerTurn},
			detect.UnchangedResult{Times: min(s.NoProgressWarn, s.NoProgressHalt)},
			calls(unloop.ReadOnly, min(s.IdempotentWarn, s.IdempotentBlock, s.IdempotentHalt)),
			calls(unloop.Mutating, min(s.MutatingWarn, s.MutatingBlock, s.MutatingHalt)),
		},
		prefix:  MessagePrefix{Tag: "loop-guard"},
		options: unloop.Options{Effects: s.effects(), EffectByName: loopGuardEffect},
		policy:  func() policy.Policy { return s.table() },
		penalty: severityPenalty,
	}
	if !s.Enabled {
		p.detectors = nil
	}
	return p
}

func (s *LoopGuard) table() policy.Table {
	return policy.Table{Rows: []policy.Row{
		{Rule: "turn_time", Levels: []policy.Level{{From: 0, Action: policy.Halt, Code: "time_exceeded"}}},
		{Rule: "unchanged_result", Levels: []policy.Level{
			{From: s.NoProgressWarn, Action: policy.Warn, Code: "no_progress_warn"},
			{From: s.NoProgressHalt, Action: policy.Halt, Code: "no_progress_halt"},
		}},
		{Rule: "idempotent_calls", Levels: []policy.Level{
			{From: s.IdempotentWarn, Action: policy.Warn, Code: "idempotent_warn"},
			{From: s.IdempotentBlock, Action: policy.Block, Code: "idempotent_block"},
			{From: s.IdempotentHalt, Action: policy.Halt, Code: "idempotent_halt"},
		}},
		{Rule: "mutating_calls", Levels: []policy.Level{
			{From: s.MutatingWarn, Action: policy.Warn, Code: "mutating_warn"},
			{From: s.MutatingBlock, Action: policy.Block, Code: "mutating_block"},
			{From: s.MutatingHalt, Action: policy.Halt, Code: "mutating_halt"},
		}},
	}}
}

func (s *LoopGuard) effects() map[string]unloop.Effect {
	effects := make(map[string]unloop.Effect)
	for _, name := range s.IdempotentTools {
		effects[name] = unloop.ReadOnly
	}
	for _, name := range s.MutatingTools {
		effects[name] = unloop.Mutating
	}
	return effects
}

// loopGuardEffect returns ReadOnly for a name with one of the words below, and Mutating otherwise.
func loopGuardEffect(name string) unloop.Effect {
	reads := []string{"read", "get", "list", "search", "find", "show", "view", "check"}
	for word := range unloop.Words(name) {
		if slices.Contains(reads, word) {
			return unloop.ReadOnly
		}
	}
	return unloop.Mutating
}
