// Package labelled reads labelled runs, which are data sets for measuring verdicts: JSON Lines with a whole run in each line. A
// line is an object with id, source, outcome, labels and events. An element of events is a tool_call with its result, a message,
// a handoff, or an event that a server recorded. Index counts these elements, and a call and its result share an Index.
//
// Labels and the outcome are compared with verdicts, so they do not become events. Calls have no ids in this format: the outcome
// directly follows the start.
package labelled

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest"
)

// Format returns the format of labelled runs.
func Format() ingest.Format {
	return ingest.Format{
		Name:   "labelled",
		Title:  "labelled runs (JSON Lines)",
		Sniff:  sniff,
		Decode: decode,
		Whole:  true,
		Grows:  true,
	}
}

func sniff(head []byte) bool {
	members, list := ingest.Members(head)
	_, id := members["id"]
	_, source := members["source"]
	_, labels := members["labels"]
	_, events := members["events"]
	return !list && id && source && labels && events
}

type run struct {
	ID     string  `json:"id"`
	Events []entry `json:"events"`
}

// entry has the members of all kinds of entries.
type entry struct {
	Kind  string `json:"kind"`
	Agent string `json:"agent"`

	Tool   string         `json:"tool"` // of a tool_call, as are the next three
	Args   jsontext.Value `json:"args"`
	Result jsontext.Value `json:"result"`
	Error  string         `json:"error"`

	Role string `json:"role"` // of a message
	Text string `json:"text"`

	From string `json:"from"` // of a handoff
	To   string `json:"to"`

	Event *unloop.Event `json:"event"` // of an event: as a server recorded it

	Timestamp jsontext.Value `json:"timestamp"`
	Latency   *float64       `json:"latency_ms"`
	Cost      float64        `json:"cost"`
	Tokens    int64          `json:"tokens"`

	Rest map[string]jsontext.Value `json:",embed"`
}

// The names that the format defines.
var (
	kinds  = []string{"tool_call", "message", "handoff", "event"}
	fields = []string{
		"kind", "agent", "tool", "args", "result", "error", "role", "text", "from", "to", "event", "timestamp", "latency_ms", "cost", "tokens",
	}
	eventTypes = ingest.EventTypes()
)

func decode(in *ingest.Input, emit ingest.Emit) error {
	return in.EachLine(func(line ingest.Line) error {
		var r run
		if err := in.Unmarshal(line.Number, line.Bytes, &r); err != nil {
			return err
		}
		if r.ID == "" {
			return in.Bad(line.Number, "id", "a run needs an id")
		}
		trail := ingest.NewEventBuilder(r.ID, emit)
		for i := range r.Events {
			r.Events[i].tellUnknown(in, i)
			if err := r.Events[i].send(trail, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// roles are the roles of a message.
var roles = []string{unloop.RoleSystem, unloop.RoleUser, unloop.RoleAssistant}

func (e *entry) tellUnknown(in *ingest.Input, i int) {
	if in.Unknown == nil {
		return
	}
	if !slices.Contains(kinds, e.Kind) {
		in.Unknown(ingest.Unknown{Kind: "kind of entry", Name: e.Kind, Known: kinds})
	}
	if e.Kind == "message" {
		in.CheckRole(ingest.Path("events", i), e.Role, roles)
	}
	if e.Event != nil && !slices.Contains(eventTypes, string(e.Event.Type)) {
		in.Unknown(ingest.Unknown{Kind: "event type", Name: string(e.Event.Type), Known: eventTypes})
	}
	for _, name := range slices.Sorted(maps.Keys(e.Rest)) {
		in.Unknown(ingest.Unknown{Kind: "field", Name: name, Known: fields})
	}
}

// send sends the events of the entry. It ignores an unknown kind.
func (e *entry) send(trail *ingest.EventBuilder, index int) error {
	at := ingest.Location{Index: index, Time: ingest.Time(e.Timestamp), Agent: e.Agent}
	switch e.Kind {
	case "tool_call":
		return e.sendCall(trail, at)
	case "message":
		if strings.TrimSpace(e.Text) == "" {
			return nil
		}
		return trail.Add(at, e.measured(&unloop.Event{Type: unloop.MessageSent, Role: e.Role, Text: e.Text}))
	case "event":
		if e.Event == nil {
			return nil
		}
		return trail.Add(at, e.Event)
	case "handoff":
		return trail.Handoff(at, e.From, e.To)
	}
	return nil
}

// sendCall sends the start and, if there is a result or an error, the outcome with the usage of the call.
func (e *entry) sendCall(trail *ingest.EventBuilder, at ingest.Location) error {
	start := &unloop.Event{Type: unloop.ToolCallStarted, Tool: e.Tool, Input: json.RawMessage(e.Args)}
	if e.Result == nil && e.Error == "" {
		return trail.Add(at, e.measured(start))
	}
	if err := trail.Add(at, start); err != nil {
		return err
	}
	outcome := &unloop.Event{Type: unloop.ToolCallCompleted, Tool: e.Tool, Output: json.RawMessage(e.Result)}
	if e.Error != "" {
		outcome.Type = unloop.ToolCallFailed
		outcome.Error = ingest.Text(e.Error)
	}
	return trail.Add(at, e.measured(outcome))
}

// measured returns the event with the usage of the entry.
func (e *entry) measured(event *unloop.Event) *unloop.Event {
	event.Latency, event.Cost, event.Tokens = e.Latency, e.Cost, e.Tokens
	return event
}
