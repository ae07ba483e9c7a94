package api

import (
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/store"
)

// Event is an event on the wire. All members are present; null means unknown. The members after metadata are specific to unloop.
type Event struct {
	ID        string          `json:"event_id" doc:"The event's id, unique within its run."`
	RunID     string          `json:"run_id" doc:"Id of the event's run."`
	Sequence  *int64          `json:"sequence" doc:"Position in the run, as numbered by the sender."`
	Timestamp string          `json:"timestamp" format:"date-time" doc:"Time when it happened. Default: time of arrival."`
	Type      string          `json:"type" doc:"Type of the event, such as tool_call_started."`
	Agent     *string         `json:"agent" doc:"The agent that acted; for a handoff, the agent that receives control."`
	Name      *string         `json:"name" doc:"A label; the tool's name if tool is null."`
	Status    *string         `json:"status" doc:"Status, as set by the sender."`
	Model     *string         `json:"model" doc:"The model of a model call."`
	Tool      *string         `json:"tool" doc:"The tool of a tool call."`
	Input     json.RawMessage `json:"input" doc:"Arguments of the call."`
	Output    json.RawMessage `json:"output" doc:"Result of the call."`
	Error     json.RawMessage `json:"error" doc:"The error: a string or an object."`
	Tokens    *int64          `json:"tokens" doc:"Total tokens of a model call."`
	Cost      *float64        `json:"cost" doc:"Cost in US dollars."`
	Latency   *float64        `json:"latency_ms" doc:"Latency in milliseconds."`
	Parent    *string         `json:"parent_event_id" doc:"Id of the event that caused this one."`
	SpanID    *string         `json:"span_id" doc:"Id of the event's span."`
	TraceID   *string         `json:"trace_id" doc:"Id of the event's trace."`
	Metadata  json.RawMessage `json:"metadata" doc:"An object set by the sender."`

	CallID *string    `json:"call_id" doc:"Id that joins the start of a call to its outcome."`
	Role   *string    `json:"role" doc:"Role of a message: system, user or assistant."`
	Text   *string    `json:"text" doc:"Text of a message."`
	Usage  *Usage     `json:"usage" doc:"Token counts of a model call, by kind."`
	Hints  *ToolHints `json:"annotations" doc:"Properties that the tool declares."`

	Content *string `json:"content" doc:"How much of inputs, outputs, errors, messages and metadata is stored, if not everything: excerpts or none. Missing content is replaced by a text that begins with Content not stored. After an excerpt, this text follows the excerpt."`

	Analysis *Analysis `json:"analysis" doc:"How the event compares with the earlier events of its run, under the run's profile. null: not a call or a message, or the run has not been evaluated since the event was stored. A late event can change it."`

	Warnings []EventError `json:"warnings,omitempty" doc:"Types and fields that are not known. Only in the answer to the request that sent the event."`

	Notices []EventError `json:"notices,omitempty" doc:"Ids and names that were shortened. Only in the answer to the request that sent the event."`
}

// Usage is an unloop.Usage.
type Usage struct {
	Input       int64 `json:"input_tokens,omitzero" required:"false" minimum:"0" doc:"Tokens of the whole prompt, including the cached part."`
	Output      int64 `json:"output_tokens,omitzero" required:"false" minimum:"0" doc:"Tokens of the whole output."`
	CachedInput int64 `json:"cached_input_tokens,omitzero" required:"false" minimum:"0" doc:"Prompt tokens read from a cache."`
	CacheWrite  int64 `json:"cache_write_tokens,omitzero" required:"false" minimum:"0" doc:"Prompt tokens written to a cache."`
	Reasoning   int64 `json:"reasoning_tokens,omitzero" required:"false" minimum:"0" doc:"Output tokens used for reasoning."`
}

// ToolHints is an unloop.ToolHints.
type ToolHints struct {
	ReadOnly   bool `json:"readOnlyHint,omitzero" required:"false" doc:"true: the tool does not modify its environment."`
	Idempotent bool `json:"idempotentHint,omitzero" required:"false" doc:"true: repeated calls with the same arguments have no additional effect."`
}

// EventOf returns an event, which shares the memory of e. Its time is the time of arrival if it has none.
func EventOf(e *unloop.Event, arrived time.Time) Event {
	at := e.Time
	if at.IsZero() {
		at = arrived.UTC().Truncate(time.Microsecond)
	}
	return Event{
		ID: e.ID, RunID: e.RunID, Sequence: within(&e.Sequence), Timestamp: at.Format(time.RFC3339Nano), Type: string(e.Type), Agent: within(&e.Agent),
		Name: within(&e.Name), Status: within(&e.Status), Model: within(&e.Model), Tool: within(&e.Tool), Input: e.Input, Output: e.Output,
		Error: e.Error, Tokens: within(&e.Tokens), Cost: within(&e.Cost), Latency: e.Latency, Parent: within(&e.ParentEventID),
		SpanID: within(&e.SpanID), TraceID: within(&e.TraceID), Metadata: e.Metadata,
		CallID: within(&e.CallID), Role: within(&e.Role), Text: within(&e.Text), Usage: (*Usage)(e.Usage), Hints: (*ToolHints)(e.Hints),
	}
}

// members are the names of an event's members on the wire, in their order.
var members = [...]string{
	"event_id", "run_id", "sequence", "timestamp", "type", "agent", "name", "status", "model", "tool", "input", "output", "error", "tokens",
	"cost", "latency_ms", "parent_event_id", "span_id", "trace_id", "metadata", "call_id", "role", "text", "usage", "annotations", "content", "analysis",
}

// The indexes in members of those whose values on the wire differ from the recorded ones.
const (
	memberID = iota
	memberRunID
	_
	memberTimestamp
)

// AppendEvent appends a recorded event in the form of Event. It copies members from the recorded bytes, which takes a quarter of
// the time of decoding and encoding.
func AppendEvent(to []byte, run string, e *store.Event) []byte {
	var values [len(members)][]byte
	next := 0 // recorded members are in nearly the same order
	native.Members(e.Body, func(name, value []byte) {
		for range members {
			if members[next] == string(name) {
				values[next] = value
				return
			}
			next = (next + 1) % len(members)
		}
	})
	for i, name := range members {
		to = append(append(append(to, separators[min(i, 1)]...), name...), `":`...)
		switch {
		case i == memberID:
			to = appendText(to, e.ID)
		case i == memberRunID:
			to = appendText(to, run)
		case i == memberTimestamp && values[i] == nil:
			to = appendText(to, Timestamp(e.Received))
		case i == len(members)-1 && len(e.Analysis) > 0:
			to = append(to, e.Analysis...)
		case values[i] == nil:
			to = append(to, "null"...)
		default:
			to = append(to, values[i]...)
		}
	}
	return append(to, '}')
}

// separators precede the first member and the others.
var separators = [...]string{`{"`, `,"`}

func appendText(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text) // the error is that bad UTF-8 was replaced
	return to
}

// WithProject returns the JSON of an event with the project of its run as its first member.
func WithProject(event []byte, project string) []byte {
	return append(append(appendText([]byte(`{"project":`), project), ','), event[1:]...)
}

// AppendEvents appends recorded events as an array.
func AppendEvents(to []byte, run string, events []store.Event) []byte {
	to = append(to, '[')
	for i := range events {
		if i > 0 {
			to = append(to, ',')
		}
		to = AppendEvent(to, run, &events[i])
	}
	return append(to, ']')
}

// NewEvent describes an event as it is sent. It is read by the native decoder; members that it does not know are left out.
type NewEvent struct {
	ID        string         `json:"event_id,omitempty" nullable:"true" doc:"The event's id, unique within its run. Default: the server generates one. Events without an id must not be sent again."`
	RunID     string         `json:"run_id" doc:"Id of the event's run. The run does not have to be created first."`
	Sequence  int64          `json:"sequence,omitempty" nullable:"true" doc:"Position in the run, numbered by the sender from 1. Default: events are ordered by timestamp, else by arrival."`
	Timestamp string         `json:"timestamp,omitempty" nullable:"true" doc:"Time when it happened: RFC 3339, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970."`
	Type      string         `json:"type" doc:"Type of the event: run_started, run_completed, run_failed, llm_call_started, llm_call_completed, llm_call_failed, tool_call_started, tool_call_completed, tool_call_failed, tool_call_blocked, retry_triggered, handoff_started, state_updated, memory_write, message, override, control, second_opinion, guard_decision. Events of other types are stored and otherwise ignored."`
	Project   string         `json:"project,omitempty" nullable:"true" doc:"The project that the run belongs to."`
	Agent     string         `json:"agent,omitempty" nullable:"true" doc:"The agent that acted; for a handoff, the agent that receives control."`
	Name      string         `json:"name,omitempty" nullable:"true" doc:"A label; the tool's name if tool is missing; for run_started, the run's name."`
	Status    string         `json:"status,omitempty" nullable:"true" doc:"Any status set by the sender."`
	Model     string         `json:"model,omitempty" nullable:"true" doc:"The model of a model call."`
	Tool      string         `json:"tool,omitempty" nullable:"true" doc:"The tool of a tool call."`
	CallID    string         `json:"call_id,omitempty" nullable:"true" doc:"Id that joins the start of a call to its outcome."`
	Role      string         `json:"role,omitempty" nullable:"true" doc:"Role of a message: system, user or assistant."`
	Text      string         `json:"text,omitempty" nullable:"true" doc:"Text of a message."`
	Input     any            `json:"input,omitempty" doc:"Arguments of the call."`
	Output    any            `json:"output,omitempty" doc:"Result of the call; null is a result without information."`
	Error     any            `json:"error,omitempty" doc:"The error: a string or an object."`
	Tokens    int64          `json:"tokens,omitempty" nullable:"true" minimum:"0" doc:"Total tokens of a model call."`
	Usage     *Usage         `json:"usage,omitempty" doc:"Token counts of a model call, by kind."`
	Cost      float64        `json:"cost,omitempty" nullable:"true" minimum:"0" doc:"Cost in US dollars. Default: computed from the tokens."`
	Latency   float64        `json:"latency_ms,omitempty" nullable:"true" minimum:"0" doc:"Latency in milliseconds."`
	Hints     *ToolHints     `json:"annotations,omitempty" doc:"Properties that the tool declares."`
	Parent    string         `json:"parent_event_id,omitempty" nullable:"true" doc:"Id of the event that caused this one."`
	SpanID    string         `json:"span_id,omitempty" nullable:"true" doc:"Id of the event's span."`
	TraceID   string         `json:"trace_id,omitempty" nullable:"true" doc:"Id of the event's trace."`
	Metadata  map[string]any `json:"metadata,omitempty" doc:"An object that is stored unchanged; for run_started, the metadata of the run."`
}
