package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// write gives what a writer makes of runs. It checks that a run is written in one piece.
func write(t *testing.T, format string, o Options, runs ...*Run) []byte {
	t.Helper()
	var out pieces
	w, err := New(format, &out, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		out.writes = 0
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
		if out.writes > 1 {
			t.Errorf("run %s was written in %d pieces", r.ID, out.writes)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// pieces counts how often it was written to.
type pieces struct {
	bytes.Buffer
	writes int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.writes++
	return p.Buffer.Write(b)
}

func ref(id string, index int) unloop.EventRef { return unloop.EventRef{ID: id, Index: index} }

// warned makes a warning.
func warned(rule, subject string, count int, score float64, first, last unloop.EventRef, what string, steps ...Step) Warning {
	w := Warning{Steps: steps, Finding: unloop.Finding{
		Rule: rule, Severity: unloop.SeverityWarning, Subject: subject, Count: count, Score: score,
		Event: last, First: first, What: what,
		Why: "Nothing the agent did in between changed the answer, so asking once more will not either.",
		Try: "Use the answer that is already there, or do something that can change it, and write down what each attempt gave.",
	}}
	for _, s := range steps {
		w.Evidence = append(w.Evidence, s.Event)
	}
	return w
}

func step(id string, index int, tool, input, output string) Step {
	return Step{Event: ref(id, index), Tool: tool, Input: input, Output: output}
}

func messageStep(id string, index int, agent, text string) Step {
	s := step(id, index, agent, text, "")
	s.Message = true
	return s
}

func failed(id string, index int, tool, input, output string) Step {
	s := step(id, index, tool, input, output)
	s.Failed = true
	return s
}

// sampleRuns are what a scan of a folder may give.
func sampleRuns() []*Run {
	return []*Run{healthyRun(), stuckRun(), cyclingRun(), failingRun(), pollingRun(), handoffRun(), healthyRun()}
}

func healthyRun() *Run {
	return &Run{
		ID: "session-1", Source: "traces/session-1.jsonl", Format: "claude-code", Events: 31, Steps: 14,
		Health:  policy.Health{Score: 100, Status: policy.GradeHealthy},
		Metrics: unloop.Metrics{Events: 31, ToolCalls: 14, Cost: 0.4211, Duration: 95 * time.Second, BusiestTool: "Read"},
	}
}

func stuckRun() *Run {
	const input = `{"query":"boiling point of ethanol at 2 bar","limit":10}`
	const output = `{"results":[]}`
	return &Run{
		ID: "chem-7", Name: "Find the boiling point of ethanol", Source: "traces/chem.jsonl", Format: "native", Events: 24, Steps: 11,
		Health: policy.Health{Score: 22, Status: policy.GradeStuck},
		Metrics: unloop.Metrics{
			Events: 24, LLMCalls: 3, ToolCalls: 11, Retries: 1, Errors: 2, Tokens: 18234, Cost: 0.12345678, Duration: 12345678 * time.Microsecond,
			MaxLatency: 812.5, MeanLatency: 203.1251, BusiestTool: "search", BusiestAgent: "researcher",
		},
		Warnings: []Warning{
			warned("same_call_same_result", "search", 5, 2.2, ref("e2", 1), ref("e18", 17),
				`search `+input+` returned the same result 5 times: `+output,
				step("e2", 1, "search", input, output), step("e6", 5, "search", input, output), step("e10", 9, "search", input, output),
				step("e14", 13, "search", input, output), step("e18", 17, "search", input, output)),
			warned("same_result", "search", 4, 1, ref("e2", 1), ref("e22", 21),
				`search returned the same result 4 times in a row, although its input changed: `+output,
				step("e18", 17, "search", input, output),
				step("e20", 19, "search", `{"query":"boiling point of methanol at 2 bar","limit":10}`, output),
				step("e22", 21, "search", `{"query":"boiling point of methanol at 2 bar"}`, output)),
		},
		Decisions: []Decision{
			{ref("e10", 9), policy.Warn, "nudge", "same call, same result"},
			{ref("e14", 13), policy.Warn, "strong_nudge", "same call, same result"},
			{ref("e18", 17), policy.Block, "blocked", "same call, same result"},
			{ref("e22", 21), policy.Halt, "halted", "same call, same result"},
		},
	}
}

func cyclingRun() *Run {
	var steps []Step
	for k := range 3 {
		steps = append(steps,
			step("", 4*k+1, "Read", `{"file_path":"/srv/app/config.go"}`, `"package app\n\nvar port = 80\n"`),
			failed("", 4*k+3, "Bash", `{"command":"go test ./...","description":"Run the tests"}`, `"--- FAIL: TestPort (0.00s)\n    port is 80, want 8080"`))
	}
	return &Run{
		ID: "b7c1", Source: "traces/b7c1.jsonl", Format: "claude-code", Events: 15, Steps: 7,
		Health: policy.Health{Score: 70, Status: policy.GradeRepeated},
		Warnings: []Warning{warned("cycle", "Bash|Read", 3, 1, ref("", 1), ref("", 11),
			`Read {"file_path":"/srv/app/config.go"}, then Bash {"command":"go test ./...","description":"Run the tests"}, with the same results, 3 times in a row`, steps...)},
		Decisions: []Decision{{ref("", 11), policy.Warn, "nudge", "a cycle"}},
	}
}

func failingRun() *Run {
	w := warned("no_progress", "bash", 4, 0, ref("e1", 0), ref("e7", 6), "bash was called 4 times, and nothing was kept",
		failed("e1", 0, "bash", `{"command":"npm run build --workspace web"}`, `"sh: 1: vite: not found"`),
		failed("e3", 2, "bash", `{"command":"npm run build --workspace api"}`, `"sh: 1: tsc: not found"`),
		step("e5", 4, "bash", `{"command":"ls"}`, `"package.json\nsrc"`),
		failed("e7", 6, "bash", `{"command":"npm run build --workspace web"}`, `"sh: 1: vite: not found"`))
	w.Severity = unloop.SeverityCritical
	slow := warned("long_running_step", "e3", 0, 0, ref("e3", 2), ref("e3", 2), "bash took 41.2 s")
	slow.Severity = unloop.SeverityInfo
	return &Run{
		ID: "build", Source: "traces/mixed.jsonl", Format: "native", Events: 8, Steps: 4,
		Health:    policy.Health{Score: 30, Status: policy.GradeHealthy},
		Metrics:   unloop.Metrics{Failed: true, Cost: 0.002},
		Warnings:  []Warning{slow, w},
		Decisions: []Decision{{ref("e7", 6), policy.Warn, "no_progress", "bash was called 4 times, and nothing was kept"}},
	}
}

func pollingRun() *Run {
	var steps []Step
	for k, at := range []string{"10:00:01", "10:00:31", "10:01:01"} {
		steps = append(steps, step("", 2*k+1, "job_status", `{"job":"nightly-import","verbose":false}`,
			`{"job":"nightly-import","state":"queued","position":14,"checked_at":"2026-11-21T`+at+`Z","worker":null}`))
	}
	return &Run{
		ID: "poll", Source: "traces/mixed.jsonl", Format: "native", Events: 18, Steps: 9,
		Health:   policy.Health{Score: 70, Status: policy.GradeRepeated},
		Warnings: []Warning{warned("stuck_polling", "job_status", 8, 1, ref("", 1), ref("", 17), "job_status returned the same answer 8 times in a row", steps...)},
		Decisions: []Decision{
			{ref("", 17), policy.Warn, "nudge", "the same answer"},
		},
	}
}

func handoffRun() *Run {
	w := warned("idle_handoffs", "planner|writer", 4, 1, ref("h1", 3), ref("h4", 9), "planner and writer handed over to each other 4 times in a row")
	w.Evidence = []unloop.EventRef{ref("h1", 3), ref("h2", 5), ref("h3", 7), ref("h4", 9)}
	return &Run{
		ID: "team", Source: "traces/team.json", Format: "openinference", Events: 11, Steps: 1,
		Health:   policy.Health{Score: 70, Status: policy.GradeRepeated},
		Warnings: []Warning{w},
		Decisions: []Decision{
			{ref("h4", 9), policy.Warn, "nudge", "handed over"},
		},
	}
}

func TestNew(t *testing.T) {
	t.Run("every format that is named can be written", func(t *testing.T) {
		for _, format := range Formats() {
			if len(write(t, format, Options{}, stuckRun())) == 0 {
				t.Errorf("%s: nothing was written", format)
			}
		}
	})
	t.Run("an unknown format is refused with the names of those there are", func(t *testing.T) {
		_, err := New("html", nil, Options{})
		if err == nil || !strings.Contains(err.Error(), `"html"`) || !strings.Contains(err.Error(), strings.Join(Formats(), ", ")) {
			t.Errorf("got %v", err)
		}
	})
}
