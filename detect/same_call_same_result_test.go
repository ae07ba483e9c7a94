package detect

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/unloop-ai/unloop"
)

func TestEqualChangesBeforeANumberFallsAreWeakEvidence(t *testing.T) {
	d := SameCallSameResult{Weight: 2.3, Failures: 4}
	for _, c := range []struct {
		says     string
		left     func(round int) int
		advisory bool
	}{
		{"fewer rows are left after each pair of deletions", func(round int) int { return 600_000 - 100_000*round }, true},
		{"as many rows are left", func(int) int { return 600_000 }, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			found := 0
			call := func(command, output string) {
				input, _ := json.Marshal(map[string]string{"command": command})
				text, _ := json.Marshal(output)
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: "bash", Input: input})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Tool: "bash", Output: text})
				if f, ok := d.Check(r); ok && input[12] == 'd' {
					found++
					if f.Advisory != c.advisory {
						t.Errorf("advisory is %t, want %t: %s", f.Advisory, c.advisory, f.What)
					}
				}
			}
			for round := range 5 {
				call("count old rows of events", fmt.Sprint(c.left(round)))
				call("delete a chunk of events", "DELETE 50000")
				call("delete a chunk of events", "DELETE 50000")
			}
			if found == 0 {
				t.Error("no finding")
			}
		})
	}
}

func TestOneQuestionOfSeveralAgents(t *testing.T) {
	d := SameCallSameResult{Weight: 2.3, Failures: 4}
	for _, c := range []struct {
		says   string
		agents []string
		want   int // findings
	}{
		{"each reviewer reads the change once", []string{"naming", "types", "docs", "security", "speed", "errors"}, 0},
		{"one reviewer reads it five times", []string{"naming", "naming", "naming", "naming", "naming"}, 3},
		{"two agents read it in turn, and each has read it before", []string{"planner", "worker", "planner", "worker", "planner"}, 3},
		{"nobody says which agent it is", []string{"", "", "", "", ""}, 3},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs, Shells: unloop.DefaultShells()})
			found := 0
			for _, agent := range c.agents {
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Agent: agent, Tool: "read_diff", Input: json.RawMessage(`{"number":398}`)})
				r.Add(&unloop.Event{Type: unloop.ToolCallCompleted, Agent: agent, Tool: "read_diff", Output: json.RawMessage(`"the ferry leaves from another pier, and the ticket office closes at noon"`)})
				if _, ok := d.Check(r); ok {
					found++
				}
			}
			if found != c.want {
				t.Errorf("%d findings, want %d", found, c.want)
			}
		})
	}
}

func TestTheAdviceFitsWhatRepeats(t *testing.T) {
	d := SameCallSameResult{Weight: 2.3, Failures: 4}
	edit := func(from, to string) string {
		return `{"file_path":"a.go","old_string":"` + from + `","new_string":"` + to + `"}`
	}
	for _, c := range []struct {
		says, tool string
		inputs     []string
		result     unloop.Event
		what, try  string
	}{
		{
			"an answer is there to be used", "read_file",
			[]string{`{"path":"a.go"}`},
			unloop.Event{Type: unloop.ToolCallCompleted, Output: []byte(`"package a"`)},
			`read_file {"path":"a.go"} returned the same result`, "Use the answer",
		},
		{
			"an error is no answer", "read_file",
			[]string{`{"path":"a.go"}`},
			unloop.Event{Type: unloop.ToolCallFailed, Error: []byte(`"no such file"`)},
			`read_file {"path":"a.go"} returned the same result`, "Read the error again",
		},
		{
			"a change and its reverse are two calls", "edit_file",
			[]string{edit("int(a)", "int(b)"), edit("int(b)", "int(a)")},
			unloop.Event{Type: unloop.ToolCallCompleted, Output: []byte(`"The file a.go has been updated."`)},
			"and calls that differ from it in details, returned the same result", "Say what the change must achieve",
		},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := unloop.NewRun("r", unloop.Options{Needs: d.Info().Needs})
			var last unloop.Finding
			for k := range 8 {
				r.Add(&unloop.Event{Type: unloop.ToolCallStarted, Tool: c.tool, Input: []byte(c.inputs[k%len(c.inputs)])})
				result := c.result
				result.Tool = c.tool
				r.Add(&result)
				if f, ok := d.Check(r); ok {
					last = f
				}
			}
			if !strings.Contains(last.What, c.what) || !strings.HasPrefix(last.Try, c.try) {
				t.Errorf("%s\n%s\n%s", last.What, last.Why, last.Try)
			}
		})
	}
}
