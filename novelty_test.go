package unloop_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

// TestNovelty checks whether each outcome is novel, and StepsWithoutNovelty after each event.
func TestNovelty(t *testing.T) {
	for _, tc := range []struct {
		name, lines string
		want        string // of each event from the first outcome: + for novel, else the number of outcomes in a row without novelty
	}{
		{"an equal result is not novel, another is", `
			result read 1
			result read 1
			result read 1
			result read 2
			result read 1`, "+ 1 2 + 1"},
		{"volatile parts do not change a result", `
			result read done at 10:00:00 in 3 ms
			result read done at 10:00:09 in 4 ms
			result read done at 10:00:09 in 4 ms, 7 lines`, "+ 1 +"},
		{"results of other tools do not count", `
			result read 1
			result grep 1
			result read 1`, "+ + 1"},
		{"a change that was not made before is novel", `
			call   edit_file a
			result edit_file ok
			call   edit_file b
			result edit_file ok
			call   edit_file a
			result edit_file ok`, "+ 0 + 0 1"},
		{"a failed change is no change", `
			call edit_file a
			fail edit_file no
			call edit_file b
			fail edit_file no`, "+ 0 1"},
		{"an error of a known class is not novel, whatever its path", `
			call read a
			fail read open /srv/app/a.go: permission denied
			call read b
			fail read open /srv/lib/b.go: permission denied
			call read c
			fail read open /srv/lib/b.go: no such file`, "+ 0 1 1 +"},
		{"a change whose output is a failure is no change", `
			call   bash make a
			result bash "no rule\nexit status 2"
			call   bash make b
			result bash "no rule\nexit status 2"`, "+ 0 1"},
		{"reading something else with the same result is not novel", `
			call   read a
			result read ok
			call   read b
			result read ok`, "+ 0 1"},
		{"a shell changes something unless its command only reads", `
			call   bash make a
			result bash ok
			call   bash make b
			result bash ok
			call   bash ls
			result bash ok`, "+ 0 + 0 1"},
		{"no content, no verdict", `
			result read 1
			result read 1
			result read
			result read 1`, "+ 1 1 2"},
		{"a blocked call is not novel", `
			result read 1
			result read 1
			call   read
			block  read`, "+ 1 1 1"},
		{"a user message, an override, a state and a memory are novelty", `
			result read 1
			result read 1
			user   go on
			result read 1
			event  override
			result read 1
			event  state_updated
			result read 1
			event  memory_write
			result read 1`, "+ 1 + 1 + 1 + 1 + 1"},
		{"other events are not", `
			result read 1
			result read 1
			say    I shall read on.
			handoff writer
			event  retry_triggered`, "+ 1 1 1 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			fold(t, tc.lines, func(r *unloop.Run) {
				if len(got) == 0 && r.Current().Type.Kind() == unloop.AtStart {
					return
				}
				word := string(rune('0' + r.StepsWithoutNovelty()))
				if r.LastNovelty() == r.Current().Ref {
					word = "+"
				}
				got = append(got, word)
				if s := r.Current().Step; s != nil && s.Novel != (word == "+") {
					t.Errorf("event %d: the step's Novel is %t", len(got), s.Novel)
				}
			})
			if diff := cmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRepeats(t *testing.T) {
	r := fold(t, `
		call   read {"path":"a","limit":5,"note":"x"}
		result read 1
		call   read {"path":"b","limit":5}
		result read 1
		call   read {"note":"y","path":"a","limit":5}
		result read 1`, nil)
	if n := r.Current().Step.Repeats.N; n != 2 {
		t.Errorf("Repeats is %d, want 2", n)
	}
}
