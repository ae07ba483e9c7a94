package cli

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
)

func TestLinesOfTheDemoFitTheTerminal(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"the words of an agent stay in their column", "  stuck    bash → FAIL one two three", "  stuck    bash → FAIL\n           one two three"},
		{"a warning too", "! stuck    cycle: bash, then edit, 3 times", "! stuck    cycle: bash,\n           then edit, 3\n           times"},
		{"a warning of the summary is indented", "  cycle (warning): bash, then edit", "  cycle (warning): bash,\n    then edit"},
		{"other lines begin at the left", "\nThis token may only send events", "\nThis token may only send\nevents"},
		{"a short line stays", "  stuck    a  b", "  stuck    a  b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, hanging(test.text, 24)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestATableIsOneLineARowWithoutATerminal(t *testing.T) {
	var out strings.Builder
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	if err := printTable(&out, [][2]string{{"cycle", long}, {"same_error", "short"}}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("cycle       "+long+"\nsame_error  short\n", out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAWarningOfASessionSaysWhatWhyAndTry(t *testing.T) {
	f := unloop.Finding{Rule: "cycle", What: "bash, then edit", Why: "nothing is new", Try: "leave the pattern", Repeated: []string{"bash"}}
	want := "cycle\n  bash, then edit\n  Why: nothing is\n       new\n  Try: leave the\n       pattern\n  Repeats: bash\n"
	if diff := cmp.Diff(want, warningText(&f, 18)); diff != "" {
		t.Error(diff)
	}
}

func TestHelpWithoutATerminalIsWrapped(t *testing.T) {
	var out, errs strings.Builder
	if status := Main([]string{"scan", "--help"}, strings.NewReader(""), &out, &errs); status != exitFine {
		t.Fatal(status, errs.String())
	}
	description, _, _ := strings.Cut(out.String(), "Usage:")
	for line := range strings.Lines(description) {
		if n := len([]rune(line)); n > helpWidth+1 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}
