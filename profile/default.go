package profile

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/detect"
	"github.com/unloop-ai/unloop/policy"
)

// DefaultProfile has the settings of the profile default, which acts on evidence of no progress instead of bare counts.
type DefaultProfile struct {
	RepeatWeight   float64 `yaml:"repeat_weight" doc:"weight of equal calls with equal results; one weighs 1, half every 24 steps later"`
	RepeatFailures int     `yaml:"repeat_failures" doc:"failures of an equal call with the same error"`
	CycleRounds    int     `yaml:"cycle_rounds" doc:"rounds of a pattern without novelty"`
	CycleSteps     int     `yaml:"cycle_steps" doc:"steps of a longer pattern that repeat in the same order, without novelty"`
	SameResults    int     `yaml:"same_results" doc:"equal results in a row, to rephrasings of one question"`
	NothingFound   int     `yaml:"nothing_found" doc:"empty results in a row, to any questions"`
	SameAnswers    int     `yaml:"same_answers" doc:"equal results in a row, to questions about different items"`
	SameErrors     int     `yaml:"same_errors" doc:"errors of one kind in a row"`
	StubbornErrors float64 `yaml:"stubborn_errors" doc:"weight of equal errors with other steps in between; one weighs 1, half every 24 steps later"`
	StuckPolls     int     `yaml:"stuck_polls" doc:"equal results of a polling tool in a row"`
	SameMessages   int     `yaml:"same_messages" doc:"nearly equal messages among the latest seven of an agent"`
	Restated       float64 `yaml:"restated_messages" doc:"restated content since the last novelty, in messages"`
	StalledSteps   float64 `yaml:"stalled_steps" doc:"estimated probability that the latest steps made no progress"`
	StalledTalk    float64 `yaml:"stalled_talk" doc:"answers to a person without novelty, in messages"`
	TextRepeats    int     `yaml:"text_repeats" doc:"repetitions of a passage at the end of one message"`
	IdleHandoffs   int     `yaml:"idle_handoffs" doc:"handoffs between two agents without novelty"`
	BareHandoffs   int     `yaml:"bare_handoffs" doc:"handoffs between two agents without novelty, if few results were captured"`
	LadderPatience int     `yaml:"ladder_patience" doc:"events at which a finding holds, without novelty, from one level to the next"`
	Common         `yaml:",inline"`
}

// DefaultSettings returns the default values.
func DefaultSettings() *DefaultProfile {
	return &DefaultProfile{
		RepeatWeight: 2.3, RepeatFailures: 4, CycleRounds: 3, CycleSteps: 4, SameResults: 4, NothingFound: 6, SameAnswers: 24, SameErrors: 4, StubbornErrors: 4.3, StuckPolls: 8, SameMessages: 3, Restated: 1.2, StalledSteps: 0.9, StalledTalk: 2, TextRepeats: 5,
		IdleHandoffs: 4, BareHandoffs: 6, LadderPatience: 2,
	}
}

// Validate returns an error that joins all settings out of range, each with its range.
func (s *DefaultProfile) Validate() error {
	var v validation
	v.number("repeat_weight", s.RepeatWeight, 1.5, 100)
	v.integer("repeat_failures", s.RepeatFailures, 2, 1000)
	v.integer("cycle_rounds", s.CycleRounds, 2, 100)
	v.integer("cycle_steps", s.CycleSteps, 2, 100)
	v.integer("same_results", s.SameResults, 2, 1000)
	v.integer("nothing_found", s.NothingFound, 2, 1000)
	v.integer("same_answers", s.SameAnswers, 2, 1000)
	v.integer("same_errors", s.SameErrors, 2, 1000)
	v.number("stubborn_errors", s.StubbornErrors, 1.5, 63)
	v.integer("stuck_polls", s.StuckPolls, 2, 1000)
	v.integer("same_messages", s.SameMessages, 2, 6)
	v.number("restated_messages", s.Restated, 0.5, 4)
	v.number("stalled_steps", s.StalledSteps, 0.5, 1)
	v.number("stalled_talk", s.StalledTalk, 0.5, 10)
	v.integer("text_repeats", s.TextRepeats, 2, 1000)
	v.integer("idle_handoffs", s.IdleHandoffs, 3, 6)
	v.integer("bare_handoffs", s.BareHandoffs, 3, 6)
	v.integer("ladder_patience", s.LadderPatience, 1, 1000)
	return v.Err()
}

func (s *DefaultProfile) profile() *Profile {
	return &Profile{
		name:  Default,
		title: "evidence of no progress; nudges, blocks, halts",
		detectors: []unloop.Detector{
			detect.SameCallSameResult{Weight: s.RepeatWeight, Failures: s.RepeatFailures},
			detect.Cycle{Rounds: s.CycleRounds, Steps: s.CycleSteps},
			detect.SameResult{Times: s.SameResults, Nothing: s.NothingFound, Items: s.SameAnswers},
			detect.SameError{Times: s.SameErrors, Stubborn: s.StubbornErrors},
			detect.StuckPolling{Times: s.StuckPolls},
			detect.RepeatedMessage{Times: s.SameMessages},
			detect.RestatedMessages{Messages: s.Restated},
			detect.StalledSteps{Estimate: s.StalledSteps, Steps: 2, Certain: 4, Stuck: 12},
			detect.StalledTalk{Messages: s.StalledTalk},
			detect.RepeatingText{Times: s.TextRepeats, Bytes: 200},
			detect.IdleHandoffs{Times: s.IdleHandoffs, Bare: s.BareHandoffs},
		},
		prefix:  MessagePrefix{Tag: "loop-guard"},
		options: unloop.Options{Shells: shells(), ShellByName: unloop.ShellByName, Effects: pollers()},
		policy:  func() policy.Policy { return &policy.Ladder{Patience: s.LadderPatience} },
		penalty: defaultPenalty,
	}
}

// defaultPenalty is 30 points for a score of 1. It grows with the score, up to 60 points.
func defaultPenalty(f *unloop.Finding) int { return int(min(60, 30*f.Score)) }

// pollers are the tools of common agents that ask for the progress of background work and whose names do not show it.
func pollers() map[string]unloop.Effect {
	return map[string]unloop.Effect{"BashOutput": unloop.Polling, "TaskOutput": unloop.Polling, "write_stdin": unloop.Polling, "think": unloop.ReadOnly, "sequentialthinking": unloop.ReadOnly}
}

// shells are the shell tools of common agents: those of unloop.DefaultShells, and of Codex, Gemini CLI, Cursor, VS Code, Goose, Factory and Desktop
// Commander.
func shells() []string {
	return append(unloop.DefaultShells(), "local_shell", "shell_command", "exec_command", "container.exec", "run_shell_command", "run_terminal_cmd",
		"run_in_terminal", "developer__shell", "Execute", "Shell", "start_process")
}
