package arch

import (
	"os/exec"
	"strings"
	"testing"
)

func TestASkippedTestIsFoundInALog(t *testing.T) {
	for _, c := range []struct {
		what, line string
		skipped    bool
	}{
		{"a test of Go", "    --- SKIP: TestRuns/one (0.00s)", true},
		{"a Go test that passed", "--- PASS: TestSkips (0.00s)", false},
		{"pytest", "================== 8 passed, 2 skipped in 14.75s ==================", true},
		{"pytest in few words", "1 failed, 8 passed, 16 skipped, 2 warnings in 1.21s", true},
		{"pytest without skipped tests", "=== 8 passed, 2 warnings in 14.75s ===", false},
		{"vitest", "      Tests  3 skipped | 5 passed (8)", true},
		{"Node", "ℹ skipped 1", true},
		{"Node into a file", "# skipped 12", true},
		{"Node without skipped tests", "ℹ skipped 0", false},
		{"a trace that a test printed", `        {"id":"1","result":"== 20 passed, 4 skipped in 14.75s =="}`, false},
	} {
		command := exec.Command("../../scripts/skipped")
		command.Stdin = strings.NewReader("ok  \tsome/package\n" + c.line + "\n")
		printed, err := command.Output()
		if (err == nil) != c.skipped || c.skipped && string(printed) != c.line+"\n" {
			t.Errorf("%s: %q is taken for a skipped test: %v, printed %q", c.what, c.line, err == nil, printed)
		}
	}
}
