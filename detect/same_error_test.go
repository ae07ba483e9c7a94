package detect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
)

// failingShell is a run of shell commands that fail, with the latest finding of same_error.
type failingShell struct {
	rule SameError
	run  *unloop.Run
	last unloop.Finding
}

func newFailingShell(rule SameError) *failingShell {
	return &failingShell{rule: rule, run: unloop.NewRun("r", unloop.Options{Needs: rule.Info().Needs, Shells: unloop.DefaultShells()})}
}

// fail adds a command and its failure.
func (s *failingShell) fail(command, failure string) {
	input, _ := json.Marshal(map[string]string{"command": command})
	text, _ := json.Marshal(failure)
	s.run.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: input})
	s.run.Add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: "bash", Error: text})
	if f, ok := s.rule.Check(s.run); ok {
		s.last = f
	}
}

func TestErrorsThatTellOfNewItemsAreWeakEvidence(t *testing.T) {
	for _, c := range []struct {
		says     string
		command  string
		advisory bool
	}{
		{"a crash with a smaller file each time", "head -c %d crash.bin > min-%[1]d.bin && ./target min-%[1]d.bin", true},
		{"the same file each time", "timeout %d ./target crash.bin", false},
	} {
		t.Run(c.says, func(t *testing.T) {
			shell := newFailingShell(SameError{Times: 4, Stubborn: 4.3})
			for size := 2048; size > 4; size /= 2 {
				command := fmt.Sprintf(c.command, size)
				file := "crash.bin"
				if c.advisory {
					file = fmt.Sprintf("min-%d.bin", size)
				}
				shell.fail(command, "Running: "+file+"\nERROR: AddressSanitizer: heap-buffer-overflow\n#0 in read_chunk parser.c\n#1 in main main.c\n[exit code 1]")
			}
			if shell.last.Count < 8 {
				t.Fatalf("%d failures are found", shell.last.Count)
			}
			if shell.last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", shell.last.Advisory, c.advisory, shell.last.What)
			}
		})
	}
}

func TestFailuresThatTellOfSomethingNewAreWeakEvidence(t *testing.T) {
	fruits := []string{"apple", "pear", "plum", "cherry", "quince", "melon", "grape", "lemon", "mango", "papaya", "banana", "apricot"}
	cities := []string{"Lima", "Oslo", "Cairo", "Quito", "Hanoi", "Accra", "Tunis", "Minsk", "Sofia", "Dakar", "Delhi", "Rome"}
	for says, c := range map[string]struct {
		test, got func(n int) string
		advisory  bool
	}{
		"other tests fail for reasons of their own": {func(n int) string { return fruits[n] }, func(n int) string { return cities[n] }, true},
		"one test fails for one reason":             {func(int) string { return "apple" }, func(int) string { return "Oslo" }, false},
	} {
		t.Run(says, func(t *testing.T) {
			shell := newFailingShell(SameError{Times: 4, Stubborn: 4.3})
			for n := range fruits {
				command := fmt.Sprintf("git stash && npx jest --seed %d -t 'handles the %s'; git stash pop", n, c.test(n))
				shell.fail(command, fmt.Sprintf("Saved working directory\n  ● handles the %s\n    Expected: %q\n    Received: null\nTests: 1 failed", c.test(n), c.got(n)))
			}
			if shell.last.Count < 8 {
				t.Fatalf("%d failures are found", shell.last.Count)
			}
			if shell.last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", shell.last.Advisory, c.advisory, shell.last.What)
			}
		})
	}
}

func TestFailuresOfASeriesOfItemsAreWeakEvidence(t *testing.T) {
	for says, c := range map[string]struct {
		command  string
		advisory bool
	}{
		"each host refuses":                   {"ssh web-%d true", true},
		"one host refuses every kind of call": {"ssh -o ConnectTimeout=%d web-1 true", false},
	} {
		t.Run(says, func(t *testing.T) {
			shell := newFailingShell(SameError{Times: 4, Stubborn: 4.3})
			for n := 2; n < 12; n++ {
				host := 1
				if c.advisory {
					host = n
				}
				shell.fail(fmt.Sprintf(c.command, n), fmt.Sprintf("ssh: connect to host web-%d port 22: Connection refused", host))
			}
			if shell.last.Count < 8 {
				t.Fatalf("%d failures are found", shell.last.Count)
			}
			if shell.last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", shell.last.Advisory, c.advisory, shell.last.What)
			}
		})
	}
}
