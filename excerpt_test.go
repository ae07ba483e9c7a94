package unloop_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("0123456789", 20)
	for _, tc := range []struct{ name, lines, input, output string }{
		{"arguments as they came, a text without its quotes", `
			call   read {"path":"a.go"}
			result read package a`, `{"path":"a.go"}`, "package a"},
		{"on one line", `
			call   read {"path":  "a.go"}
			result read "one\n\ttwo \"three\" \\n"`, `{"path": "a.go"}`, `one two "three" \n`},
		{"a long one is cut", `
			call   read ["` + long + `"]
			result read ` + long + "x", `["` + long[:126] + "…", long[:127] + "…"},
		{"a failure in an output shows the line with the error", `
			call   bash make
			event  tool_call_failed tool=bash output="make:\n\nValueError:no\nbye" error="exit"`, `{"command":"make"}`, "ValueError:no"},
		{"else the error", `
			call   bash make
			fail   bash exit 1`, `{"command":"make"}`, "exit 1"},
		{"a long error shows the line with the error", `
			call   bash make
			fail   bash "Traceback:\n  File \"a.py\"\nValueError: no"`, `{"command":"make"}`, "ValueError: no"},
		{"of pytest the error, not the heading above it", `
			call   bash pytest -q
			result bash "F [100%]\n=== FAILURES ===\n>   assert f() == \"a\"\nE   AssertionError: want \"a\"\n=== short test summary ===\nexit status 1"`, `{"command":"pytest -q"}`, `AssertionError: want "a"`},
		{"what a command printed, without the lines of the shell tool around it", `
			call   bash git diff
			result bash "Exit code: 0\nWall time: 1.1 seconds\nOutput:\ndiff of a.go"`, `{"command":"git diff"}`, "diff of a.go"},
		{"these lines, if it printed nothing", `
			call   bash rg limit
			result bash "Exit code: 1\nWall time: 0.1 seconds\nOutput:\n"`, `{"command":"rg limit"}`, "Exit code: 1 Wall time: 0.1 seconds Output:"},
		{"a pending call has none", `
			call   read a`, `{"input":"a"}`, ""},
		{"no arguments", `
			call   read
			result read 7`, "", "7"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := fold(t, tc.lines, nil)
			input, output := r.Excerpt(r.StepAt(0))
			if input != tc.input || output != tc.output {
				t.Errorf("got %q and %q, want %q and %q", input, output, tc.input, tc.output)
			}
		})
	}
}

// TestExcerptIsCutBetweenCharacters shifts a text byte by byte, so that the cut falls at each place within a character.
func TestExcerptIsCutBetweenCharacters(t *testing.T) {
	for _, filler := range []string{"é", "日", "😀", "日é😀a"} {
		for shift := range 8 {
			r := fold(t, "call read\nresult read "+strings.Repeat("x", shift)+strings.Repeat(filler, 200), nil)
			_, output := r.Excerpt(r.StepAt(0))
			if kept := len(strings.TrimSuffix(output, "…")); !utf8.ValidString(output) || kept > 128 || kept < 122 {
				t.Errorf("%d bytes before %q: the excerpt has %d bytes: %q", shift, filler, kept, output)
			}
		}
	}
}

func TestExcerptsOfOldStepsAreEvicted(t *testing.T) {
	r := fold(t, "repeat 20\ncall read {i}\nresult read {i}\nend", nil)
	for k := range 20 {
		input, _ := r.Excerpt(r.StepAt(k))
		if known := input != ""; known != (k < 10) {
			t.Errorf("%d calls back the input is %q", k, input)
		}
	}
	if input, output := r.Excerpt(&unloop.Step{Number: 3}); input != "" || output != "" {
		t.Errorf("of a forgotten step there are %q and %q", input, output)
	}
}
