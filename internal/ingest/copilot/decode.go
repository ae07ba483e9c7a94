// Package copilot reads the events of GitHub Copilot CLI: the file events.jsonl of a session below ~/.copilot/session-state, and the events
// of its SDK and of --output-format json, which have the same form. An Index counts the lines that are not blank, from 0.
//
// The run is the session. Events of a sub-agent belong to the agent that the event subagent.started names.
//
// Traps: an answer of the model has only its output tokens. The usage of its call is an event of its own, which the file does not keep. If
// it is there, before or after the answer, it replaces the answer's tokens. The totals at the end of a session contain all of them; the
// end of the run has those that no event had. A call is requested in the answer and started by an event of its own, which counts. A
// resumed session continues in the same file after its end. The output of --output-format json has no start of a session; it ends with a
// line of the type result, whose members are not in data. Events of other types (deltas, permissions, hooks) are skipped.
package copilot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of a session's events.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "copilot",
		Title:  "Copilot CLI session (~/.copilot/session-state/*/events.jsonl)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
		Grows:  true,
	}
}

// sniff looks for an event of a known family with data, an id and a time.
func sniff(head []byte) bool {
	m, list := ingest.Members(head)
	family, _, found := strings.Cut(m["type"], ".")
	families := []string{"session", "user", "assistant", "tool", "system", "subagent", "hook", "permission"}
	if list || !found || !slices.Contains(families, family) {
		return false
	}
	for _, name := range []string{"data", "id", "timestamp"} {
		if _, ok := m[name]; !ok {
			return m["type"] == "session.start" && name != "data" // its data may be longer than head
		}
	}
	return true
}

type event struct {
	Type  string         `json:"type"`
	Time  jsontext.Value `json:"timestamp"`
	Agent string         `json:"agentId"`
	Raw   jsontext.Value `json:"data"`
	Data  data           `json:"-"`

	ExitCode int `json:"exitCode"` // of the result
}

// data is the data of an event of any type that is read.
type data struct {
	Session string `json:"sessionId"` // of the start of a session

	Content jsontext.Value `json:"content"` // of a message
	Source  string         `json:"source"`  // of a message that a program wrote as the user, such as skill-pdf
	Model   string         `json:"model"`   // of an answer or its usage

	CallID    string         `json:"toolCallId"`
	Parent    string         `json:"parentToolCallId"` // of events of sub-agents, in older versions
	Tool      string         `json:"toolName"`
	Arguments jsontext.Value `json:"arguments"`
	Success   bool           `json:"success"`
	Result    jsontext.Value `json:"result"` // an object with content, or a text
	Error     jsontext.Value `json:"error"`  // an object with a message, or a text

	AgentName string `json:"agentName"` // of a sub-agent

	ErrorType string `json:"errorType"` // of an error of the session
	Message   string `json:"message"`
	Shutdown  string `json:"shutdownType"`
	Reason    string `json:"errorReason"`

	usage
	Models map[string]struct {
		Usage usage `json:"usage"`
	} `json:"modelMetrics"` // totals at the end of a session
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	d := decoder{in: in, events: ingest.NewEventBuilder(in.Run, emit), emit: emit, agents: make(map[string]string), calls: make(map[string]*answer)}
	return in.EachLine(d.line)
}

type decoder struct {
	in     *ingest.Input
	events *ingest.EventBuilder
	emit   ingest.Emit
	index  int               // of the next line
	agents map[string]string // names of sub-agents, by their ids and by the calls that started them
	calls  map[string]*answer
	spent  usage // by the session, since it was started or resumed
}

// known are the types of the events that are read.
var known = []string{
	"session.start", "session.resume", "session.error", "session.shutdown", "user.message", "system.message", "assistant.message",
	"assistant.usage", "tool.execution_start", "tool.execution_complete", "subagent.started",
}

func (d *decoder) line(line ingest.Line) error {
	at := ingest.Location{Index: d.index}
	d.index++
	var e event
	if err := d.in.Unmarshal(line.Number, line.Bytes, &e); err != nil {
		return err
	}
	if e.Type == "result" {
		return d.exit(at, &e)
	}
	if !slices.Contains(known, e.Type) || len(e.Raw) == 0 {
		return nil
	}
	if err := d.in.Unmarshal(line.Number, e.Raw, &e.Data); err != nil {
		return ingest.Under("data", err)
	}
	at.Time, at.Agent = ingest.Time(e.Time), d.agent(&e)
	return d.event(at, &e)
}

// agent returns the name of the agent of an event, or "" for the main agent.
func (d *decoder) agent(e *event) string {
	for _, id := range []string{e.Agent, e.Data.Parent} {
		if name := d.agents[id]; name != "" && id != "" {
			return name
		}
	}
	if e.Agent != "" {
		return e.Agent
	}
	return e.Data.Parent
}

func (d *decoder) event(at ingest.Location, e *event) error {
	switch e.Type {
	case "session.start", "session.resume":
		return d.start(e)
	case "user.message":
		return d.message(at, unloop.RoleUser, e)
	case "system.message":
		return d.message(at, unloop.RoleSystem, e)
	case "assistant.message":
		if err := d.answered(at, e); err != nil {
			return err
		}
		return d.message(at, unloop.RoleAssistant, e)
	case "assistant.usage":
		return d.used(at, e)
	case "tool.execution_start":
		return d.events.Call(at, e.Data.CallID, e.Data.Tool, ingest.Arguments(e.Data.Arguments))
	case "tool.execution_complete":
		return d.result(at, e)
	case "subagent.started":
		d.agents[e.Data.CallID] = e.Data.AgentName
		if e.Agent != "" {
			d.agents[e.Agent] = e.Data.AgentName
		}
	case "session.error":
		return d.failed(at, e)
	case "session.shutdown":
		return d.end(at, e)
	}
	return nil
}

// start sets the run to the session.
func (d *decoder) start(e *event) error {
	d.spent = usage{}
	if e.Type == "session.start" && e.Data.Session != "" {
		d.events = ingest.NewEventBuilder(e.Data.Session, d.emit)
	}
	return nil
}

func (d *decoder) message(at ingest.Location, role string, e *event) error {
	text := ingest.Content(e.Data.Content)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if inserted := e.Data.Source != "" && e.Data.Source != "user" || ingest.IsInserted(text); role == unloop.RoleUser && inserted {
		role = unloop.RoleSystem
	}
	return d.events.Message(at, role, text)
}

// result sends the outcome of a call: what the model sees of it, or its error.
func (d *decoder) result(at ingest.Location, e *event) error {
	output := ingest.Output(e.Data.Result)
	if m := ingest.MembersOf(string(e.Data.Result)); m["content"] != nil {
		output = ingest.Output(m["content"])
	} else if m["detailedContent"] != nil {
		output = ingest.Output(m["detailedContent"])
	}
	reason := ""
	if !e.Data.Success {
		reason = ingest.UnquoteText(ingest.MembersOf(string(e.Data.Error))["message"])
		if reason == "" {
			reason = ingest.UnquoteText(e.Data.Error)
		}
	}
	return d.events.Result(at, e.Data.CallID, e.Data.Tool, output, !e.Data.Success, reason)
}

// failed sends an error of the session, which is that of a model call: of the quota, the rate limit or the connection.
func (d *decoder) failed(at ingest.Location, e *event) error {
	if err := d.events.Add(at, &unloop.Event{Type: unloop.LLMCallStarted}); err != nil {
		return err
	}
	return d.events.Add(at, &unloop.Event{Type: unloop.LLMCallFailed, Status: e.Data.ErrorType, Error: ingest.Text(e.Data.Message)})
}

// exit sends the end of a run. Only the output of --output-format json has this event.
func (d *decoder) exit(at ingest.Location, e *event) error {
	end := &unloop.Event{Type: unloop.RunCompleted}
	if e.ExitCode != 0 {
		end.Type, end.Error = unloop.RunFailed, ingest.Text(fmt.Sprintf("exit code %d", e.ExitCode))
	}
	return d.events.Add(at, end)
}

// end sends the end of the run, with the tokens that no event had.
func (d *decoder) end(at ingest.Location, e *event) error {
	var total usage
	for _, m := range e.Data.Models {
		total = total.plus(m.Usage)
	}
	end := &unloop.Event{Type: unloop.RunCompleted, Status: e.Data.Shutdown}
	end.Usage, end.Tokens = total.beyond(d.spent).kinds()
	if e.Data.Shutdown == "error" {
		end.Type, end.Error = unloop.RunFailed, ingest.Text(e.Data.Reason)
	}
	d.spent = usage{}
	return d.events.Add(at, end)
}
