package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

// TestEscalation plays calls, a letter for each, at which a cycle of up to three is found when a round is complete. The
// answer has a letter for each: a(llow), w(arn), W(arn harder), h(alt).
func TestEscalation(t *testing.T) {
	for _, tc := range []struct{ name, calls, want string }{
		{"one repeated call", "AAAAA", "awWhh"},
		{"two calls in turn", "ABABABAB", "aaawaWah"},
		{"three calls in turn", "ABCABCABCABC", "aaaaawaaWaah"},
		{"no pattern, nothing done", "ABCDEFGH", "aaaaaaaa"},
		{"an interrupted pattern keeps its count", "AAXAAYAA", "awaaWaah"},
		{"turned round it is the same pattern", "ABABXBABA", "aaawaaaaW"},
		{"two patterns climb each by itself", "AABBAABB", "awawaWaW"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var e Escalation
			if got := playCalls(&e, unloop.NewRun("run", unloop.Options{}), tc.calls); got != tc.want {
				t.Errorf("%s of %s, want %s", got, tc.calls, tc.want)
			}
		})
	}
}

func TestARestoredEscalationContinues(t *testing.T) {
	var before, after Escalation
	r := unloop.NewRun("run", unloop.Options{})
	playCalls(&before, r, "ABABAB")
	saved, err := before.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := after.Restore(saved); err != nil {
		t.Fatal(err)
	}
	if got := playCalls(&after, r, "AB"); got != "ah" {
		t.Errorf("it went on with %s, want ah", got)
	}
}

// TestEscalationBoundsItsPatterns fills the memory. Patterns that are in it still escalate; a further one starts from the first level
// each time, so it is warned of and never halted.
func TestEscalationBoundsItsPatterns(t *testing.T) {
	var e Escalation
	r := unloop.NewRun("run", unloop.Options{})
	for k := range maxPatterns {
		playTools(&e, r, fmt.Sprint("tool ", k), 2)
	}
	if got := playTools(&e, r, "one too many", 5); got != "awwww" {
		t.Errorf("a pattern beyond the memory: %s", got)
	}
	if got := playTools(&e, r, "tool 0", 3); got != "aWh" {
		t.Errorf("a pattern in the memory: %s", got)
	}
	if n := len(e.detections); n != maxPatterns {
		t.Errorf("%d patterns are kept", n)
	}
}

func playCalls(e *Escalation, r *unloop.Run, calls string) string {
	var got strings.Builder
	for _, c := range calls {
		got.WriteString(playTools(e, r, string(c), 1))
	}
	return got.String()
}

// playTools plays so many calls of a tool.
func playTools(e *Escalation, r *unloop.Run, tool string, calls int) string {
	var got strings.Builder
	for range calls {
		r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool})
		var found []unloop.Finding
		if period, rounds := r.CallPeriods().Shortest(3); period > 0 && r.CallPeriods().Whole(period) {
			found = []unloop.Finding{{Rule: "call_cycle", Count: rounds, Period: period}}
		}
		d := e.Decide(r, found, nil)
		letter := d.Action.String()[:1]
		if d.Code == CodeCycleWarningStrong {
			letter = "W"
		}
		got.WriteString(letter)
	}
	return got.String()
}
