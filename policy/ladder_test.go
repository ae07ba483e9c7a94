package policy

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// TestLadder plays outcomes: "=" is a step without novelty at which a finding holds, "~" one at which only an advisory finding
// holds, "." one at which none holds, and "!" a novel step. The answer has a letter for each: a(llow), w(arn), W(arn more
// strongly), b(lock), h(alt).
func TestLadder(t *testing.T) {
	for _, tc := range []struct{ name, steps, want string }{
		{"a loop without novelty is stopped", "=======", "waWabah"},
		{"nothing found, nothing done", "....!!..", "aaaaaaaa"},
		{"three novel results in a row lower the level by one", "===!!!=====", "waWaaaaWaba"},
		{"fewer do not", "===!!====", "waWaaabah"},
		{"a loop between novel events is stopped", "=!!=!!=!!=!!=!!=!!=", "waaaaaWaaaaabaaaaah"},
		{"a finding must hold to count", "=..=..=", "waaaaaW"},
		{"after a halt it stays halted", "=========", "waWabahah"},
		{"advisory evidence is only nudged", "~~~~~~~~~", "waWaWaWaW"},
		{"enough novel results, and the level is 0 again", "===!!!!!!=", "waWaaaaaaw"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, playLadder(tc.steps)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func playLadder(steps string) string {
	l := Ladder{Patience: 2}
	r := unloop.NewRun("run", unloop.Options{Needs: unloop.NeedOutcomes})
	r.Add(&unloop.Event{ID: "u", Index: -1, Type: unloop.MessageSent, Role: unloop.RoleUser})
	var got strings.Builder
	for i, step := range steps {
		e := &unloop.Event{ID: fmt.Sprint("e", i), Index: i, Type: unloop.ToolCallFailed, Tool: "t", Output: json.RawMessage(`"same"`)}
		if i == 0 {
			r.Add(e) // the first outcome would be novel
		}
		var found []unloop.Finding
		switch step {
		case '=':
			found = []unloop.Finding{{Rule: "r", Score: 1}}
		case '~':
			found = []unloop.Finding{{Rule: "r", Score: 3, Advisory: true}}
		case '!':
			e.Output = json.RawMessage(`"news ` + strings.Repeat("x", i) + `"`)
		}
		r.Add(e)
		d := l.Decide(r, found, found)
		letter := d.Action.String()[:1]
		if d.Code == CodeStrongNudge {
			letter = "W"
		}
		got.WriteString(letter)
	}
	return got.String()
}
