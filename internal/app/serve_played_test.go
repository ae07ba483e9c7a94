package app

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// played is an agent's work as a script, whatever tells a server of it.
type played struct {
	agent string
	steps []playedStep
}

// playedStep is a tool's call, or a model's where it names no tool. Input and output are JSON. After a handoff the other agent's
// work follows.
type playedStep struct {
	tool, input, output string
	then                *played
}

// What each model call takes, in tokens.
const playedInput, playedOutput = 10, 5

// search is one search that finds the same as ever.
func search(tool string) playedStep {
	return playedStep{tool: tool, input: `{"query": "the lost letter", "limit": 5}`, output: `"one letter, of 1911"`}
}

// searching asks a model what to do and does the same, so many times.
func searching(tool string, times int) (steps []playedStep) {
	for range times {
		steps = append(steps, playedStep{}, search(tool))
	}
	return steps
}

// stuckResearch is an agent that searches six times, has another one write, and comes back.
func stuckResearch() played {
	writer := &played{"writer", []playedStep{
		{},
		{tool: "draft", input: `{"title":"The letter"}`, output: `"saved"`},
		{tool: "transfer_to_researcher", input: `{}`, output: `"Transferred to researcher."`},
	}}
	steps := append(searching("search", 6),
		playedStep{tool: "transfer_to_writer", input: `{"reason":"enough"}`, output: `"Transferred to writer."`, then: writer},
		playedStep{})
	return played{"researcher", steps}
}

// events tells of the work by events, a line each, and appends them.
func (p *played) events(to *strings.Builder) {
	add := func(format string, values ...any) {
		n := strings.Count(to.String(), "\n")
		at := time.Date(2026, 4, 5, 6, 7, n, 0, time.UTC).Format(time.RFC3339)
		fmt.Fprintf(to, `{"event_id":"%d","run_id":"reference","timestamp":%q,`+format+"}\n", append([]any{n, at}, values...)...)
	}
	for _, s := range p.steps {
		other, handoff := strings.CutPrefix(s.tool, "transfer_to_")
		switch {
		case handoff:
			add(`"type":"handoff_started","agent":%q,"metadata":{"from":%q}`, other, p.agent)
		case s.tool == "":
			add(`"type":"llm_call_started","agent":%q`, p.agent)
			add(`"type":"llm_call_completed","agent":%q,"tokens":%d`, p.agent, playedInput+playedOutput)
		default:
			call := strings.Count(to.String(), "\n")
			add(`"type":"tool_call_started","agent":%q,"tool":%q,"call_id":"%d","input":%s`, p.agent, s.tool, call, s.input)
			add(`"type":"tool_call_completed","agent":%q,"tool":%q,"call_id":"%d","output":%s`, p.agent, s.tool, call, s.output)
		}
		if s.then != nil {
			s.then.events(to)
		}
	}
}

// runVerdict is what a server says of a run, as far as it does not depend on who told of it.
type runVerdict struct {
	ID, Name, Project, Status       string
	Ended                           bool
	ToolCalls, ModelCalls, Handoffs int
	Tokens                          int64
	Warnings                        []string
}

// reference returns what a server says of the work when it is told by events, as of a run that has ended. Tests hold all other
// ways to it.
func (p *played) reference(t *testing.T) runVerdict {
	t.Helper()
	var body strings.Builder
	p.events(&body)
	body.WriteString(`{"event_id":"end","run_id":"reference","timestamp":"2026-04-05T07:00:00Z","type":"run_completed"}` + "\n")
	url := serve(t, nil)
	post(t, url+"/api/events", "application/x-ndjson", []byte(body.String()))
	v := onlyRun(t, url)
	if len(v.Warnings) == 0 || !strings.HasPrefix(v.Warnings[0], "same_call_same_result ") || v.ToolCalls == 0 {
		t.Fatalf("as events, the run has %+v", v)
	}
	return v
}

// onlyRun asks a server for its run, and there must be one.
func onlyRun(t *testing.T, url string) runVerdict {
	t.Helper()
	var runs []struct {
		ID      string  `json:"id"`
		Name    string  `json:"name"`
		Project string  `json:"project"`
		Status  string  `json:"status"`
		EndedAt *string `json:"ended_at"`
	}
	text := get(t, url+"/api/runs")
	unmarshal(t, text, &runs)
	if len(runs) != 1 {
		t.Fatalf("%d runs, want 1: %s", len(runs), text)
	}
	run := runs[0]
	var metrics struct {
		ToolCalls  int   `json:"total_tool_calls"`
		ModelCalls int   `json:"total_llm_calls"`
		Handoffs   int   `json:"total_handoffs"`
		Tokens     int64 `json:"total_tokens"`
	}
	unmarshal(t, get(t, url+"/api/runs/"+run.ID+"/metrics"), &metrics)
	v := runVerdict{
		ID: run.ID, Name: run.Name, Project: run.Project, Status: run.Status, Ended: run.EndedAt != nil,
		ToolCalls: metrics.ToolCalls, ModelCalls: metrics.ModelCalls, Handoffs: metrics.Handoffs, Tokens: metrics.Tokens,
	}
	var warnings []struct {
		Type    string `json:"type"`
		Subject string `json:"subject"`
		Count   int    `json:"count"`
		Message string `json:"message"`
	}
	unmarshal(t, get(t, url+"/api/runs/"+run.ID+"/warnings"), &warnings)
	for _, w := range warnings {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s %s %d: %s", w.Type, w.Subject, w.Count, w.Message))
	}
	return v
}
