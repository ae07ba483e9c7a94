package unloop

import (
	"encoding/json"
	"strconv"
	"testing"
)

// The exit status of a command is an answer, as that of grep, unless the command says more than a few words.
func TestWhatAFailedCommandTells(t *testing.T) {
	for output, want := range map[string]int{
		"":         0,
		"3 differ": 0,
		"three of the fourteen pages differ from those in the store by more than a line": 2,
		"rg: sources: No such file or directory":                                         2,
	} {
		r := NewRun("r", measured)
		for range 2 {
			r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: json.RawMessage(`{"command":"make compare"}`)})
			r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: json.RawMessage(strconv.Quote("Exit code: 1\nWall time: 0.1 seconds\nOutput:\n" + output))})
		}
		if got := r.StepAt(0).Errors.N; got != want || !r.StepAt(0).Failing {
			t.Errorf("%q: %d equal errors, want %d; failing is %t", output, got, want, r.StepAt(0).Failing)
		}
	}
}
