package detect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/unloop-ai/unloop"
)

// Searches that find nothing are told in the form of each shell tool. Some of these tools say that grep failed, because its exit status is 1.
func TestSearchesThatFindNothing(t *testing.T) {
	d := SameResult{Times: 4, Nothing: 6, Items: 12}
	for tool, result := range map[string]func(n int) string{
		"Codex":                                 func(n int) string { return fmt.Sprintf("Exit code: 1\nWall time: 0.%d seconds\nOutput:\n", n) },
		"Codex, with the exit status of an end": func(n int) string { return fmt.Sprintf("Exit code: 0\nWall time: 0.%d seconds\nOutput:\n", n) },
		"unified exec of Codex": func(n int) string {
			return fmt.Sprintf("Chunk ID: %06x\nWall time: 0.0%d seconds\nProcess exited with code 1\nOriginal token count: 0\nOutput:\n", 0x3f2a1b+977*n, 100+n)
		},
		"OpenHands": func(int) string {
			return "\n[Current working directory: /workspace]\n[Python interpreter: /usr/bin/python3]\n[Command finished with exit code 1]"
		},
		"mini-swe-agent": func(int) string { return "<returncode>1</returncode>\n<output>\n</output>" },
		"no words":       func(int) string { return "" },
	} {
		t.Run(tool, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			first := 0
			for n, name := range []string{"", "limitOf", "of_limit", "rateLimit", "limit_rate", "maxLimits", "LIMIT_MAX", "limits", "theLimit"} {
				if n == 0 {
					continue
				}
				input := fmt.Sprintf(`{"command":"rg -n '%s' src"}`, name)
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: json.RawMessage(input)})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "bash", Output: json.RawMessage(strconv.Quote(result(n)))})
				if f, ok := d.Check(r); ok && first == 0 {
					first = n
					if !f.Advisory {
						t.Error("the finding is not advisory")
					}
				}
			}
			if first != 6 {
				t.Errorf("the first finding is at search %d, want 6", first)
			}
		})
	}
}

// OpenInference records the input of a tool with one argument as a text without the name of the argument.
func TestSearchesWithATextAsInputFindNothing(t *testing.T) {
	for tool, want := range map[string]int{"find_letter": 6, "searchArchive": 6, "get_letter": 0} {
		t.Run(tool, func(t *testing.T) {
			d := SameResult{Times: 4, Nothing: 6, Items: 12}
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs})
			first := 0
			for n := range 10 {
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, Input: json.RawMessage(fmt.Sprintf(`"letter %c"`, 'a'+n))})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, Output: json.RawMessage(`"No results found."`)})
				if _, ok := d.Check(r); ok && first == 0 {
					first = n + 1
				}
			}
			if first != want {
				t.Errorf("the first finding is at call %d, want %d", first, want)
			}
		})
	}
}

// What a command printed when it failed is an error, and no result.
func TestAFailureWithWordsIsNoResult(t *testing.T) {
	d := SameResult{Times: 4, Nothing: 6, Items: 12}
	r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
	for n := range 14 {
		input := fmt.Sprintf(`{"command":"rg -n 'limit%c' sources"}`, 'A'+n)
		r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: json.RawMessage(input)})
		r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "bash", Output: json.RawMessage(`"Exit code: 2\nWall time: 0.1 seconds\nOutput:\nrg: sources: No such file or directory (os error 2)"`)})
		if f, ok := d.Check(r); ok {
			t.Fatalf("search %d: %s", n, f.What)
		}
	}
}
