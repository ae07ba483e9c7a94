package unloop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// fails adds a call of calibrate that fails with an error of so many micrometers, and returns how many errors came since one advanced.
func fails(r *Run, micrometers int) int {
	r.Add(&Event{Type: ToolCallStarted, Tool: "calibrate", Input: json.RawMessage(`{"axis":"x"}`)})
	r.Add(&Event{Type: ToolCallFailed, Tool: "calibrate", Error: json.RawMessage(fmt.Sprintf(`"axis x is off by %d micrometers"`, micrometers))})
	return r.Tool("calibrate").ErrorsSinceAdvance
}

func TestErrorsSinceAnAnswerAdvanced(t *testing.T) {
	for name, c := range map[string]struct {
		errors []int
		want   int
	}{
		"errors that get smaller":            {[]int{90, 70, 40, 20, 10}, 0},
		"an error that got smaller once":     {[]int{90, 70, 80, 85, 90}, 5},
		"errors that go up and down":         {[]int{70, 90, 60, 80, 65}, 5},
		"errors that stay since they shrank": {[]int{90, 70, 40, 40, 40}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			got := 0
			for _, n := range c.errors {
				got = fails(r, n)
			}
			if got != c.want {
				t.Errorf("%d errors since an answer advanced, want %d", got, c.want)
			}
		})
	}
}

// advances returns how often the answers to a call advanced, which is made again after each change.
func advances(answers []Event) int {
	r := NewRun("r", measured)
	for k, answer := range answers {
		r.Add(&Event{Type: ToolCallStarted, Tool: "edit", Input: json.RawMessage(fmt.Sprintf(`{"path":"a%d.go"}`, k))})
		r.Add(&Event{Type: ToolCallCompleted, Tool: "edit", Output: json.RawMessage(`"saved"`)})
		r.Add(&Event{Type: ToolCallStarted, Tool: "load", Input: json.RawMessage(`{"file":"bills.csv"}`)})
		answer.Tool = "load"
		r.Add(&answer)
	}
	return r.s.Advances
}

func TestAFailureThatMovesOnIsProgress(t *testing.T) {
	for name, c := range map[string]struct {
		lines []int
		want  int
	}{
		"the failure moves on":      {[]int{139, 2704, 4410, 9911}, 1},
		"the failure moves on once": {[]int{139, 2704, 2704, 2704}, 0},
		"the failure moves around":  {[]int{139, 2704, 17, 2704}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []Event
			for k, line := range c.lines {
				answers = append(answers, Event{Type: ToolCallFailed, Error: json.RawMessage(fmt.Sprintf(`"field value out of range: 3%d.02.2026\nCONTEXT: line %d, column of the date"`, k%2, line))})
			}
			if got := advances(answers); got != c.want {
				t.Errorf("the answers advanced %d times, want %d", got, c.want)
			}
		})
	}
}

func TestAReadBehindAWaitIsAPoll(t *testing.T) {
	for name, c := range map[string]struct {
		tool, input string
		want        Effect
	}{
		"a tool that waits":             {"wait_seconds", `{"seconds":60}`, Polling},
		"a tool that sleeps":            {"sleep", `{"ms":500}`, Polling},
		"a shell that sleeps":           {"bash", `{"command":"sleep 30"}`, Polling},
		"a shell that reads":            {"bash", `{"command":"cat a.txt"}`, ReadOnly},
		"a tool that writes":            {"create_payment", `{"amount":3}`, ReadOnly},
		"a tool that waits for a thing": {"wait_for_job", `{"id":3}`, ReadOnly},
		"a name with other words":       {"list_waiters", `{}`, ReadOnly},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			r.Add(&Event{Type: ToolCallStarted, Tool: c.tool, Input: json.RawMessage(c.input)})
			r.Add(&Event{Type: ToolCallStarted, Tool: "get_payment", Input: json.RawMessage(`{"id":"p1"}`)})
			if got := r.StepAt(0).Effect; got != c.want {
				t.Errorf("get_payment is %v, want %v", got, c.want)
			}
		})
	}
}

func TestACallAgainAfterAWaitIsAPoll(t *testing.T) {
	r := NewRun("r", measured)
	ask := &Event{Type: ToolCallStarted, Tool: "conversations_replies", Input: json.RawMessage(`{"thread":"t1"}`)}
	wait := &Event{Type: ToolCallStarted, Tool: "sleep", Input: json.RawMessage(`{"seconds":600}`)}
	for n, want := range []Effect{Mutating, Polling, Polling} {
		r.Add(ask)
		if got := r.StepAt(0).Effect; got != want {
			t.Errorf("call %d is %v, want %v", n+1, got, want)
		}
		r.Add(wait)
		if got := r.StepAt(0).Effect; got != Polling {
			t.Errorf("the wait is %v, want %v", got, Polling)
		}
	}
}

func TestAWaitIsNotWasted(t *testing.T) {
	got := wasted(12, func(int) []Event { return []Event{call("sleep", `{"seconds":600}`, `"Waited 600 seconds."`)} })
	if got != 0 {
		t.Errorf("%.2f steps were wasted, want 0", got)
	}
}

// The profiles of published systems do not measure effort. Their verdicts do not depend on waits.
func TestAWaitChangesNoEffectWithoutTheMeter(t *testing.T) {
	for _, wait := range []Event{
		{Tool: "sleep", Input: json.RawMessage(`{"seconds":60}`)},
		{Tool: "bash", Input: json.RawMessage(`{"command":"sleep 30"}`)},
	} {
		t.Run(wait.Tool, func(t *testing.T) {
			r := NewRun("r", Options{Shells: DefaultShells(), Needs: NeedOutcomes | NeedArgs | NeedShell})
			for range 3 {
				r.Add(&Event{Type: ToolCallStarted, Tool: wait.Tool, Input: wait.Input})
				if got := r.StepAt(0).Effect; wait.Tool == "sleep" && got != Mutating {
					t.Errorf("sleep is %v, want %v", got, Mutating)
				}
				r.Add(&Event{Type: ToolCallStarted, Tool: "get_payment", Input: json.RawMessage(`{"id":"p1"}`)})
				if got := r.StepAt(0).Effect; got != ReadOnly {
					t.Errorf("get_payment is %v, want %v", got, ReadOnly)
				}
			}
		})
	}
}

func TestAnAnswerThatShrinksTwiceIsProgress(t *testing.T) {
	for name, c := range map[string]struct {
		failures []string
		want     int
	}{
		"fewer failures each time":    {[]string{"pay ship tax mail", "pay tax mail", "tax mail", "mail"}, 1},
		"one failure less, once":      {[]string{"pay ship tax mail", "pay tax mail", "pay tax mail", "pay tax mail"}, 0},
		"fewer failures, then others": {[]string{"pay ship tax mail", "pay tax mail", "pay ship tax mail", "pay ship"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", measured)
			for k, names := range c.failures {
				r.Add(&Event{Type: ToolCallStarted, Tool: "edit", Input: json.RawMessage(fmt.Sprintf(`{"path":"a%d.go"}`, k))})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "edit", Output: json.RawMessage(`"saved"`)})
				r.Add(&Event{Type: ToolCallStarted, Tool: "test", Input: json.RawMessage(`{}`)})
				r.Add(&Event{Type: ToolCallFailed, Tool: "test", Error: json.RawMessage(fmt.Sprintf(`"not ok: %s"`, names))})
			}
			if r.s.Advances != c.want {
				t.Errorf("the answers advanced %d times, want %d", r.s.Advances, c.want)
			}
		})
	}
}

// A command is the same whatever its description and its limits are. Its answers are compared.
func TestEqualCommandsWithOtherDescriptions(t *testing.T) {
	units := []string{"parcel", "gateway", "permit", "wallet", "invoice", "client"}
	for name, c := range map[string]struct {
		arguments func(n int) string
		left      func(n int) []string
		progress  bool
	}{
		"the list gets shorter, the descriptions differ": {
			func(n int) string {
				return `{"command":"systemctl --failed","description":"look at ` + cities[n] + `"}`
			},
			func(n int) []string { return units[n:] }, true,
		},
		"the list gets shorter, the timeouts differ": {
			func(n int) string { return fmt.Sprintf(`{"command":"systemctl --failed","timeout_ms":%d}`, 9000+n) },
			func(n int) []string { return units[n:] }, true,
		},
		"the list stays": {
			func(n int) string {
				return `{"command":"systemctl --failed","description":"look at ` + cities[n] + `"}`
			},
			func(int) []string { return units }, false,
		},
		"each list is that of another command": {
			func(n int) string { return `{"command":"systemctl --failed --host ` + cities[n] + `"}` },
			func(n int) []string { return units[n:] }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := NewRun("r", Options{Needs: measured.Needs, Shells: DefaultShells()})
			for n := range 5 {
				list, _ := json.Marshal("UNIT LOAD ACTIVE SUB\n" + strings.Join(c.left(n), " loaded failed failed\n"))
				r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: json.RawMessage(c.arguments(n))})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: list})
				r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: fmt.Appendf(nil, `{"command":"systemctl restart %s"}`, units[n])})
				r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: json.RawMessage(`""`)})
			}
			if got := r.StepAt(1).Effort.Novelty >= onwardNovelty; got != c.progress {
				t.Errorf("the latest list has a novelty of %.2f, progress = %t", r.StepAt(1).Effort.Novelty, c.progress)
			}
		})
	}
}

// A command that came before is no change of its own, whatever its description says.
func TestADescriptionMakesNoOtherChange(t *testing.T) {
	r := NewRun("r", Options{Needs: measured.Needs, Shells: DefaultShells()})
	for n := range 5 {
		r.Add(&Event{Type: ToolCallStarted, Tool: "bash", Input: fmt.Appendf(nil, `{"command":"git pull --rebase","description":"try %s"}`, cities[n])})
		r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", Output: json.RawMessage(`"Current branch main is up to date."`)})
	}
	if got := r.Changes(); got != 1 {
		t.Errorf("%d changes, want 1", got)
	}
}
