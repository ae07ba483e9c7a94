package cli

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/unloop-ai/unloop"
)

// script is the events of an agent in the demo.
type script struct {
	agent string
	run   string
	lines []scriptLine

	events int64 // number of events with ids
}

// scriptLine is the events of one step.
type scriptLine struct {
	after  time.Duration // since the previous line
	says   string        // the printed text; "" for none
	events []*unloop.Event
}

// demoScripts returns the scripts of the two agents. Each run of the demo has new run ids.
func demoScripts(now time.Time) []*script {
	mark := now.Format("150405")
	stuck := &script{agent: "stuck", run: "demo-stuck-" + mark}
	healthy := &script{agent: "healthy", run: "demo-healthy-" + mark}
	for _, s := range []*script{stuck, healthy} {
		s.add(0, "", &unloop.Event{Type: unloop.RunStarted, Name: "Demo: " + s.agent + " agent"})
	}
	stuck.getStuck()
	healthy.getThrough()
	return []*script{stuck, healthy}
}

// next gives an event its id and its position, after the events so far, and returns it.
func (s *script) next(e *unloop.Event) *unloop.Event {
	s.events++
	e.RunID, e.Sequence, e.Agent = s.run, s.events, s.agent
	e.ID = fmt.Sprintf("%s-%d", s.run, s.events)
	return e
}

// add adds a line. Events get ids and positions in their order.
func (s *script) add(after time.Duration, says string, events ...*unloop.Event) {
	for _, e := range events {
		s.next(e)
	}
	s.lines = append(s.lines, scriptLine{after, says, events})
}

func (s *script) message(role, text string) {
	s.add(time.Second, role+": "+text, &unloop.Event{Type: unloop.MessageSent, Role: role, Text: text})
}

// call adds a model's request for a tool and, a moment later, the outcome, which failed if it begins with FAIL.
func (s *script) call(tool, input, output string) {
	id := fmt.Sprintf("call-%d", len(s.lines))
	s.add(900*time.Millisecond, "",
		&unloop.Event{Type: unloop.LLMCallStarted, Model: "demo-model"},
		&unloop.Event{Type: unloop.LLMCallCompleted, Model: "demo-model", Tokens: 1200, Cost: 0.004},
		&unloop.Event{Type: unloop.ToolCallStarted, Tool: tool, CallID: id, Input: json.RawMessage(input)})
	outcome := &unloop.Event{Type: unloop.ToolCallCompleted, Tool: tool, CallID: id, Output: quoted(output)}
	if len(output) > 4 && output[:4] == "FAIL" {
		outcome.Type, outcome.Output, outcome.Error = unloop.ToolCallFailed, nil, quoted(output)
	}
	s.add(400*time.Millisecond, fmt.Sprintf("%s %s → %s", tool, input, output), outcome)
}

func quoted(text string) json.RawMessage {
	raw, _ := json.Marshal(text) // a string can always be encoded
	return raw
}

// getStuck adds the steps of an agent that repairs the wrong place: it reads the same file and gets the same test failure each
// time.
func (s *script) getStuck() {
	const failure = "FAIL TestParse: parse.go:31: want 3 fields, got 2"
	s.message(unloop.RoleUser, "TestParse fails. Please repair it.")
	s.call("read_file", `{"path":"parse.go"}`, "func Parse(line string) []string { return strings.Split(line, \",\") }")
	s.call("bash", `{"command":"go test ./..."}`, failure)
	for range 6 {
		s.call("edit_file", `{"path":"parse.go","old":"\",\"","new":"\",\""}`, "parse.go is unchanged: nothing was replaced")
		s.call("bash", `{"command":"go test ./..."}`, failure)
		s.call("read_file", `{"path":"parse.go"}`, "func Parse(line string) []string { return strings.Split(line, \",\") }")
	}
	s.add(time.Second, "gives up", &unloop.Event{Type: unloop.RunFailed, Error: quoted("out of budget")})
}

// getThrough adds the steps of an agent whose repetitions are legitimate: it runs the tests after each edit, and polls a job that
// makes progress.
func (s *script) getThrough() {
	s.message(unloop.RoleUser, "Add a flag --json to the report, and release it.")
	s.call("read_file", `{"path":"report.go"}`, "func Report(w io.Writer) { … }")
	s.call("bash", `{"command":"go test ./..."}`, "ok  report  0.21s")
	s.call("edit_file", `{"path":"report.go","new":"func JSON(w io.Writer) { … }"}`, "report.go: 14 lines added")
	s.call("bash", `{"command":"go test ./..."}`, "FAIL TestJSON: report_test.go:12: missing field total")
	s.call("edit_file", `{"path":"report.go","new":"Total int"}`, "report.go: 1 line added")
	s.call("bash", `{"command":"go test ./..."}`, "ok  report  0.22s")
	s.call("edit_file", `{"path":"main.go","new":"--json"}`, "main.go: 3 lines added")
	s.call("bash", `{"command":"go test ./..."}`, "ok  report  0.22s; ok  main  0.10s")
	s.call("release", `{"version":"1.4.0"}`, "job 81 is queued")
	for _, percent := range []int{10, 35, 60, 85, 100} {
		s.call("release_status", `{"job":81}`, fmt.Sprintf("job 81: %d %%", percent))
	}
	s.message(unloop.RoleAssistant, "Version 1.4.0 with --json is released.")
	s.add(time.Second, "is done", &unloop.Event{Type: unloop.RunCompleted, Status: "success"})
}
