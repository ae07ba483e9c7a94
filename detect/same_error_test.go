package detect

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestErrorsThatTellOfNewItemsAreWeakEvidence(t *testing.T) {
	d := SameError{Times: 4, Stubborn: 4.3}
	for _, c := range []struct {
		says     string
		command  string
		advisory bool
	}{
		{"a crash with a smaller file each time", "head -c %d crash.bin > min-%[1]d.bin && ./target min-%[1]d.bin", true},
		{"the same file each time", "timeout %d ./target crash.bin", false},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			var last unloop.Finding
			for size := 2048; size > 4; size /= 2 {
				command, _ := json.Marshal(map[string]string{"command": fmt.Sprintf(c.command, size)})
				file := "crash.bin"
				if c.advisory {
					file = fmt.Sprintf("min-%d.bin", size)
				}
				output, _ := json.Marshal("Running: " + file + "\nERROR: AddressSanitizer: heap-buffer-overflow\n#0 in read_chunk parser.c\n#1 in main main.c\n[exit code 1]")
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: command})
				r.Add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: "bash", Error: output})
				if f, ok := d.Check(r); ok {
					last = f
				}
			}
			if last.Count < 8 {
				t.Fatalf("%d failures are found", last.Count)
			}
			if last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", last.Advisory, c.advisory, last.What)
			}
		})
	}
}

func TestFailuresThatTellOfSomethingNewAreWeakEvidence(t *testing.T) {
	d := SameError{Times: 4, Stubborn: 4.3}
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
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			var last unloop.Finding
			for n := range fruits {
				command, _ := json.Marshal(map[string]string{"command": fmt.Sprintf("git stash && npx jest --seed %d -t 'handles the %s'; git stash pop", n, c.test(n))})
				output, _ := json.Marshal(fmt.Sprintf("Saved working directory\n  ● handles the %s\n    Expected: %q\n    Received: null\nTests: 1 failed", c.test(n), c.got(n)))
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: command})
				r.Add(&unloop.Event{Type: unloop.ToolCallFailed, Tool: "bash", Error: output})
				if f, ok := d.Check(r); ok {
					last = f
				}
			}
			if last.Count < 8 {
				t.Fatalf("%d failures are found", last.Count)
			}
			if last.Advisory != c.advisory {
				t.Errorf("advisory is %t, want %t: %s", last.Advisory, c.advisory, last.What)
			}
		})
	}
}
