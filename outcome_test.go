package unloop

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The exit status of a command is an answer, as that of grep, unless the command says more than a few words.
func TestWhatAFailedCommandTells(t *testing.T) {
	for output, want := range map[string]int{
		"":         0,
		"3 differ": 0,
		"three of the fourteen pages differ from those in the store by more than a line": 2,
		"rg: sources: No such file or directory":                                         2,
	} {
		r := NewRun("r", measured)
		for range 2 {
			r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: json.RawMessage(`{"command":"make compare"}`)})
			r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: json.RawMessage(strconv.Quote("Exit code: 1\nWall time: 0.1 seconds\nOutput:\n" + output))})
		}
		if got := r.StepAt(0).Errors.N; got != want || !r.StepAt(0).Failing {
			t.Errorf("%q: %d equal errors, want %d; failing is %t", output, got, want, r.StepAt(0).Failing)
		}
	}
}

func TestFailedStepsCountFailuresThatResultsDescribe(t *testing.T) {
	for _, tc := range []struct {
		name    string
		needs   Needs
		outcome Event
		want    int
	}{
		{"a failed call", 0, Event{Type: ToolCallFailed, Error: []byte(`"no such file"`)}, 1},
		{"a result that describes a failure", measured.Needs, Event{Type: ToolCallCompleted, Output: []byte(`"Exit code: 1\nOutput:\nno such file"`)}, 1},
		{"the same result, which the run does not read", 0, Event{Type: ToolCallCompleted, Output: []byte(`"Exit code: 1\nOutput:\nno such file"`)}, 0},
		{"a result", measured.Needs, Event{Type: ToolCallCompleted, Output: []byte(`"Exit code: 0\nOutput:\na.go"`)}, 0},
		{"a blocked call", measured.Needs, Event{Type: ToolCallBlocked}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := NewRun("r", Options{Needs: tc.needs})
			r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: []byte(`{"command":"ls"}`)})
			tc.outcome.Tool = "bash"
			r.Add(&tc.outcome)
			if got := r.Metrics().FailedSteps; got != tc.want {
				t.Errorf("%d failed steps, want %d", got, tc.want)
			}
		})
	}
}

func TestEnvelopesOfAResultDoNotCount(t *testing.T) {
	last := func(tool, first, second string) (bool, Effort) {
		r := NewRun("r", Options{Needs: measured.Needs, Shells: DefaultShells()})
		for k, output := range []string{first, second} {
			input := []byte(`{"command":"make part-` + string(rune('a'+k)) + `","n":[1,2]}`)
			r.Add(&Event{Type: ToolCallStarted, Tool: tool, Input: input})
			r.Add(&Event{Type: ToolCallCompleted, Tool: tool, Output: []byte(output)})
		}
		step := r.Current().Step
		return step.Failing, step.Effort
	}
	const a, b = `three parts of the wheel are loose`, `the fourth spoke of it has a crack`
	for name, c := range map[string]struct{ tool, before, after string }{
		"a result of an MCP server":       {"inspect", `{"content":[{"type":"text","text":"`, `"}],"isError":false}`},
		"a list with one text":            {"inspect", `[{"type":"text","text":"`, `"}]`},
		"a reminder behind a result":      {"inspect", `"`, `\n<system-reminder>\nYour list is empty.\n</system-reminder>"`},
		"an object with a stream":         {"bash", `{"stdout":"`, `","stderr":"","interrupted":false}`},
		"an exit status in the metadata":  {"bash", `{"output":"`, `","metadata":{"exit_code":0,"duration_seconds":0.4}}`},
		"a shell of an MCP server":        {"bash", `{"content":[{"type":"text","text":"`, `"}]}`},
		"the prompt behind an output":     {"bash", `"`, `\n(Open file: /r/a.py)\n(Current directory: /r)\nbash-$"`},
		"a sentence with the exit status": {"bash", `"Command executed in terminal within working directory '/r'. Exit code: 0\nOutput:\n`, `"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, want := last(c.tool, `"`+a+`"`, `"`+b+`"`)
			failing, got := last(c.tool, c.before+a+c.after, c.before+b+c.after)
			if diff := cmp.Diff(want, got); diff != "" || failing {
				t.Errorf("failing is %v; plain against wrapped (-want +got):\n%s", failing, diff)
			}
		})
	}
}

func TestAnErrorOfAnMCPServerIsAFailureOfItsText(t *testing.T) {
	errors := func(output string) Count {
		r := NewRun("r", measured)
		for range 2 {
			r.Add(&Event{Type: ToolCallStarted, Tool: "fetch", Input: []byte(`{"url":"u"}`)})
			r.Add(&Event{Type: ToolCallCompleted, Tool: "fetch", Output: []byte(output)})
		}
		return r.Current().Step.Errors
	}
	if got := errors(`{"content":[{"type":"text","text":"Error: no such host"}],"isError":true}`); got.N != 2 {
		t.Errorf("%d errors, want 2", got.N)
	}
	if got := errors(`[{"type":"text","text":"Error: no such host"}]`); got.N != 2 {
		t.Errorf("%d errors without isError, want 2", got.N)
	}
}

func TestNewThoughtsAreNoEqualResults(t *testing.T) {
	count := func(thoughts ...string) int {
		r := NewRun("r", measured)
		for _, thought := range thoughts {
			r.Add(&Event{Type: ToolCallStarted, Tool: "think", Input: []byte(`{"thought":"` + thought + `"}`)})
			r.Add(&Event{Type: ToolCallCompleted, Tool: "think", Output: []byte(`""`)})
		}
		return r.Tool("think").Streak.Count
	}
	if got := count("the key is in the drawer", "perhaps nobody has opened that window since March", "a locksmith costs more than another lock"); got != 0 {
		t.Errorf("a streak of %d new thoughts, want none", got)
	}
	const same = "the key is in the drawer"
	if got := count(same, same, same); got != 2 {
		t.Errorf("a streak of %d repeated thoughts, want 2", got)
	}
}
