package unloop_test

import (
	"encoding/json"
	"testing"

	"github.com/unloop-ai/unloop"
)

// TestAnAnswerThatIsNotDoneYetIsNoFailureOfTheCommand holds this with and without NeedOutcomes, because the first error of a tool is part of
// the findings of every profile.
func TestAnAnswerThatIsNotDoneYetIsNoFailureOfTheCommand(t *testing.T) {
	for name, needs := range map[string]unloop.Needs{
		"excerpts":              unloop.NeedExcerpts,
		"excerpts and outcomes": unloop.NeedExcerpts | unloop.NeedOutcomes,
	} {
		t.Run(name, func(t *testing.T) {
			r := unloop.NewRun("run", unloop.Options{Needs: needs, Shells: unloop.DefaultShells()})
			for _, failing := range []bool{true, false} { // the first call may have started what is in progress
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: json.RawMessage(`{"command":"gh pr checks"}`)})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "bash", Output: json.RawMessage(`"Exit code: 8\nOutput:\nlint pass\ntest pending"`)})
				if got := r.Current().Step.Failing; got != failing {
					t.Errorf("call %d: failing %t, want %t", r.Calls(), got, failing)
				}
			}
			if step := r.StepAt(0); step.Effect != unloop.Polling || r.Tool("bash").Errors.Count != 0 {
				t.Errorf("the effect is %d and there are %d errors, want %d and none", step.Effect, r.Tool("bash").Errors.Count, unloop.Polling)
			}
		})
	}
}
