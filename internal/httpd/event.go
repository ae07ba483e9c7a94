package httpd

import (
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/ingest/native"
	"github.com/unloop-ai/unloop/internal/store"
)

// Event is an event on the wire: all members are there, null where nothing is known. What stands behind metadata is unloop's
// own.
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

	Analysis *Analysis `json:"analysis" doc:"How the event compares with the earlier events of its run, under the run's profile. null: not a tool call or a message, or the run has not been evaluated since the event was stored. A late event can change it."`

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

// eventOf returns an event as it stands on the wire. Arrived is its time where it has none.
func eventOf(e *unloop.Event, arrived time.Time) Event {
	at := e.Time
	if at.IsZero() {
		at = arrived.UTC().Truncate(time.Microsecond)
	}
	return Event{
		ID: e.ID, RunID: e.RunID, Sequence: orNull(e.Sequence), Timestamp: at.Format(time.RFC3339Nano), Type: string(e.Type), Agent: orNull(e.Agent),
		Name: orNull(e.Name), Status: orNull(e.Status), Model: orNull(e.Model), Tool: orNull(e.Tool), Input: e.Input, Output: e.Output,
		Error: e.Error, Tokens: orNull(e.Tokens), Cost: orNull(e.Cost), Latency: e.Latency, Parent: orNull(e.ParentEventID),
		SpanID: orNull(e.SpanID), TraceID: orNull(e.TraceID), Metadata: e.Metadata,
		CallID: orNull(e.CallID), Role: orNull(e.Role), Text: orNull(e.Text), Usage: (*Usage)(e.Usage), Hints: (*ToolHints)(e.Hints),
	}
}

// members are the names of an event's members on the wire, in their order.
var members = [...]string{
	"event_id", "run_id", "sequence", "timestamp", "type", "agent", "name", "status", "model", "tool", "input", "output", "error", "tokens",
	"cost", "latency_ms", "parent_event_id", "span_id", "trace_id", "metadata", "call_id", "role", "text", "usage", "annotations", "content", "analysis",
}

// The places in members of what does not stand in a recorded body as it is to be told.
const (
	memberID = iota
	memberRunID
	_
	memberTimestamp
)

// appendEvent writes a recorded event as it stands on the wire. It is what Event says, but made of the recorded bytes, which
// takes a quarter of the time.
func appendEvent(to []byte, run string, e *store.Event) []byte {
	var values [len(members)][]byte
	next := 0 // recorded members stand in nearly the same order
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
			to = appendText(to, timestamp(e.Received))
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

// separators stand before the first member and before the others.
var separators = [...]string{`{"`, `,"`}

func appendText(to []byte, text string) []byte {
	to, _ = jsontext.AppendQuote(to, text) // the error is that bad UTF-8 was replaced
	return to
}

// appendEvents writes a list of recorded events.
func appendEvents(to []byte, run string, events []store.Event) []byte {
	to = append(to, '[')
	for i := range events {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendEvent(to, run, &events[i])
	}
	return append(to, ']')
}
