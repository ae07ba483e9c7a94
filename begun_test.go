package unloop

import (
	"fmt"
	"testing"
)

// begun adds command n, whose tool answers with a key, and the call that sends the key and reads the output.
func begun(r *Run, n int, command, output string) {
	key := fmt.Sprintf("%08x", 0xa1b2c3d4*uint32(n+1))
	r.Add(&Event{Type: ToolCallStarted, Tool: "bash", CallID: fmt.Sprint("s", n), Input: fmt.Appendf(nil, `{"command":%q}`, command)})
	r.Add(&Event{Type: ToolCallCompleted, Tool: "bash", CallID: fmt.Sprint("s", n), Output: fmt.Appendf(nil, `"Command started. Command id: %s"`, key)})
	r.Add(&Event{Type: ToolCallStarted, Tool: "read_output", CallID: fmt.Sprint("r", n), Input: fmt.Appendf(nil, `{"command_id":%q}`, key)})
	r.Add(&Event{Type: ToolCallCompleted, Tool: "read_output", CallID: fmt.Sprint("r", n), Output: fmt.Appendf(nil, "%q", output)})
}

func TestACommandAndTheCallThatReadsItsOutputAreOneStep(t *testing.T) {
	r := NewRun("r", measured)
	begun(r, 0, "ls", "README.md go.mod main.go")
	if n := r.Calls(); n != 2 {
		t.Fatalf("the first command makes %d steps, want 2: nobody knows yet that it only begins", n)
	}
	for n := 1; n < 4; n++ {
		begun(r, n, "make test", "FAIL: TestOpen\nstore_test.go:31: no such table: runs\nexit status 1")
		step := r.StepAt(0)
		if r.Calls() != 2+n || step.Tool != "bash" || step.Outcome != Completed {
			t.Fatalf("command %d makes step %d of %s with outcome %d, want step %d of bash, which has ended", n, r.Calls(), step.Tool, step.Outcome, 2+n)
		}
	}
	if step := r.StepAt(0); step.ArgsCount != 3 || step.Effort.Novelty > 0.1 || step.Start.Number+3 != step.End.Number {
		t.Errorf("the step is %+v, want the third equal one, from the command to the read", step)
	}
	if got := r.Metrics().ToolCalls; got != 8 {
		t.Errorf("%d calls are counted, want 8", got)
	}
}

func TestWhichOutcomesAreOnlyBeginnings(t *testing.T) {
	command := func(r *Run, tool, args, result string) {
		r.Add(&Event{Type: ToolCallStarted, Tool: tool, Input: []byte(args)})
		r.Add(&Event{Type: ToolCallCompleted, Tool: tool, Output: []byte(result)})
	}
	for name, c := range map[string]struct {
		first func(r *Run) // nil for a command and its read
		then  func(r *Run)
		want  int // steps that have ended behind the first command and its read
	}{
		"an outcome in other words": {nil, func(r *Run) { command(r, "bash", `{"command":"ls"}`, `"Stopped a1b2c3d5"`) }, 1},
		"an outcome without a key":  {nil, func(r *Run) { command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: none"`) }, 1},
		"another command":           {nil, func(r *Run) { command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d5"`) }, 0},
		"an equal command that nobody reads": {nil, func(r *Run) {
			command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d5"`)
			command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d6"`)
		}, 1},
		"a command that is read twice": {nil, func(r *Run) {
			command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d5"`)
			command(r, "read_output", `{"command_id":"a1b2c3d5"}`, `"still running"`)
			command(r, "read_output", `{"command_id":"a1b2c3d5"}`, `"still running"`)
		}, 2},
		"two commands that are read in the other order": {nil, func(r *Run) {
			command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d5"`)
			command(r, "bash", `{"command":"pwd"}`, `"Command started. Command id: a1b2c3d6"`)
			command(r, "read_output", `{"command_id":"a1b2c3d6"}`, `"/repo"`)
			command(r, "read_output", `{"command_id":"a1b2c3d5"}`, `"main.go"`)
		}, 2},
		"a key that a thought mentions": {func(r *Run) {
			command(r, "bash", `{"command":"ls"}`, `"Command started. Command id: a1b2c3d4"`)
			command(r, "think", `{"thought":"Let me look at a1b2c3d4."}`, `""`)
		}, func(r *Run) { command(r, "bash", `{"command":"pwd"}`, `"Command started. Command id: a1b2c3d5"`) }, 1},
		"a key that a change names": {func(r *Run) {
			command(r, "bash", `{"command":"git log -1"}`, `"At commit a1b2c3d4"`)
			command(r, "create_release", `{"commit":"a1b2c3d4"}`, `"created"`)
		}, func(r *Run) { command(r, "bash", `{"command":"git log -1"}`, `"At commit a1b2c3d5"`) }, 1},
		"a bare key": {func(r *Run) {
			command(r, "bash", `{"command":"git rev-parse HEAD"}`, `"a1b2c3d4"`)
			command(r, "get_commit", `{"commit":"a1b2c3d4"}`, `"Fix the parser"`)
		}, func(r *Run) { command(r, "bash", `{"command":"git rev-parse HEAD"}`, `"a1b2c3d5"`) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			options := measured
			options.Effects = map[string]Effect{"think": ReadOnly}
			r := NewRun("r", options)
			if c.first == nil {
				begun(r, 0, "date", "Tue Nov 24")
			} else {
				c.first(r)
			}
			before := r.s.OutcomePeriods.N
			c.then(r)
			if got := r.s.OutcomePeriods.N - before; got != c.want {
				t.Errorf("%d steps have ended, want %d", got, c.want)
			}
			if err := r.s.validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
