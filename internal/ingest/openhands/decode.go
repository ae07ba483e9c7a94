// Package openhands reads the events of OpenHands (its software-agent-sdk): a JSON list of events, or events one after another, as in
// JSON Lines or the joined files of a conversation's folder "events". An Index counts the events, from 0.
//
// Traps: "kind" may be the last member of an event, so the sniffing looks at others. The calls of one answer of the model are several
// events with one llm_response_id, and only the first has the thought. The action of a call is validated and has a member "kind"; the
// arguments as the model sent them may have members that are for the program, so they are read only if the call was not valid. A shell
// command that fails is no error, but has an exit code; that of a command that still runs is -1. Events have no usage.
package openhands

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of OpenHands events.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "openhands",
		Title:  "OpenHands events (software-agent-sdk)",
		Sniff:  sniff,
		Decode: decode,
	}
}

// sniff looks for an event with a source, a time, and a member that only events of OpenHands have.
func sniff(head []byte) bool {
	members, _ := ingest.Members(head)
	if _, ok := members["timestamp"]; !ok || !slices.Contains([]string{"agent", "user", "environment"}, members["source"]) {
		return false
	}
	for _, own := range []string{"llm_message", "system_prompt", "llm_response_id", "action_id"} {
		if _, ok := members[own]; ok {
			return true
		}
	}
	_, call := members["tool_call_id"]
	return call && strings.HasSuffix(members["kind"], "Event")
}

type event struct {
	Kind    string         `json:"kind"`
	Time    jsontext.Value `json:"timestamp"`
	Source  string         `json:"source"`
	Message struct {
		Content jsontext.Value `json:"content"`
	} `json:"llm_message"`

	Response string         `json:"llm_response_id"` // of the answer of the model that led to the event
	Thought  jsontext.Value `json:"thought"`
	Tool     string         `json:"tool_name"`
	CallID   string         `json:"tool_call_id"`
	Action   jsontext.Value `json:"action"` // null if the call was not valid
	ToolCall struct {
		Arguments jsontext.Value `json:"arguments"`
	} `json:"tool_call"`

	Observation jsontext.Value `json:"observation"`
	Error       string         `json:"error"`            // of an AgentErrorEvent
	Rejection   string         `json:"rejection_reason"` // of a UserRejectObservation
}

type observation struct {
	Content jsontext.Value `json:"content"`
	IsError bool           `json:"is_error"`
	Exit    jsontext.Value `json:"exit_code"`
}

func decode(in *ingest.Input, emit ingest.Emit) error {
	d := decoder{in: in, events: ingest.NewEventBuilder(in.Run, emit)}
	return in.Elements(func(i int, value jsontext.Value) error {
		var e event
		if err := in.Unmarshal(in.Line(), value, &e); err != nil {
			return err
		}
		return d.event(ingest.Location{Index: i, Time: ingest.Time(e.Time)}, &e)
	})
}

type decoder struct {
	in       *ingest.Input
	events   *ingest.EventBuilder
	response string // the latest answer of the model
}

func (d *decoder) event(at ingest.Location, e *event) error {
	if e.Response != "" && e.Response != d.response {
		d.response = e.Response
		if err := d.events.Model(at, ingest.Usage{}); err != nil {
			return err
		}
	}
	switch e.Kind {
	case "MessageEvent":
		return d.message(at, e.role(), e.Message.Content)
	case "ActionEvent":
		if err := d.message(at, unloop.RoleAssistant, e.Thought); err != nil {
			return err
		}
		args := ingest.Arguments(e.ToolCall.Arguments)
		if e.Action.Kind() == '{' {
			args = json.RawMessage(e.Action)
		}
		return d.events.Call(at, e.CallID, e.Tool, args)
	case "ObservationEvent":
		return d.observation(at, e)
	case "AgentErrorEvent":
		return d.events.Result(at, e.CallID, e.Tool, nil, true, e.Error)
	case "UserRejectObservation":
		return d.events.Result(at, e.CallID, e.Tool, nil, true, e.Rejection)
	}
	return nil
}

// role returns the role of a message: what the environment says is from the program.
func (e *event) role() string {
	switch e.Source {
	case "user":
		return unloop.RoleUser
	case "agent":
		return unloop.RoleAssistant
	}
	return unloop.RoleSystem
}

func (d *decoder) message(at ingest.Location, role string, content jsontext.Value) error {
	text := ingest.Content(content)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return d.events.Message(at, role, text)
}

// observation sends the outcome of a call: its content, or all of it if it has none.
func (d *decoder) observation(at ingest.Location, e *event) error {
	var o observation
	if e.Observation.Kind() == '{' {
		if err := d.in.Unmarshal(d.in.Line(), e.Observation, &o); err != nil {
			return err
		}
	}
	output := ingest.Output(o.Content)
	if len(o.Content) == 0 {
		output = ingest.Output(e.Observation)
	}
	exit := string(o.Exit)
	failed := o.IsError || exit != "" && exit != "0" && exit != "-1" && exit != "null"
	return d.events.Result(at, e.CallID, e.Tool, output, failed, "")
}
