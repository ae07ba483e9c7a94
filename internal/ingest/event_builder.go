package ingest

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop"
)

// EventBuilder makes the events of one run in the order of the run. It numbers them and generates ids for events without one
// ("e7" for the first event of entry 7 of the input, "e7.1" for the second).
type EventBuilder struct {
	run  string
	emit Emit

	sequence int64
	index    int // of the last event
	part     int // number of earlier events with the same index
}

// NewEventBuilder returns a builder for the run.
func NewEventBuilder(run string, emit Emit) *EventBuilder {
	return &EventBuilder{run: run, emit: emit, index: -1}
}

// Location is the position, the time and the agent of an event.
type Location struct {
	Index int       // position in the input's own list, from 0
	Time  time.Time // zero when unknown
	Agent string
}

// Add sends e at the location. An id or an agent that e already has is kept.
func (t *EventBuilder) Add(at Location, e *unloop.Event) error {
	if at.Index != t.index {
		t.index, t.part = at.Index, -1
	}
	t.part++
	t.sequence++
	if e.ID == "" {
		e.ID = "e" + strconv.Itoa(at.Index)
		if t.part > 0 {
			e.ID += "." + strconv.Itoa(t.part)
		}
	}
	if e.Agent == "" {
		e.Agent = at.Agent
	}
	if e.Time.IsZero() {
		e.Time = at.Time
	}
	e.RunID, e.Index, e.Sequence = t.run, at.Index, t.sequence
	return t.emit(e)
}

// Message sends a message. Role is system, user or assistant.
func (t *EventBuilder) Message(at Location, role, text string) error {
	return t.Add(at, &unloop.Event{Type: unloop.MessageSent, Role: role, Text: text})
}

// Call sends the start of a tool call. args is raw JSON; callID may be "".
func (t *EventBuilder) Call(at Location, callID, tool string, args json.RawMessage) error {
	return t.Add(at, &unloop.Event{Type: unloop.ToolCallStarted, CallID: callID, Tool: tool, Input: args})
}

// Result sends the outcome of a tool call. output is raw JSON, or nil if unknown. The outcome is a failure if failed is set or
// reason is not empty.
func (t *EventBuilder) Result(at Location, callID, tool string, output json.RawMessage, failed bool, reason string) error {
	e := &unloop.Event{Type: unloop.ToolCallCompleted, CallID: callID, Tool: tool, Output: output}
	if failed || reason != "" {
		e.Type = unloop.ToolCallFailed
	}
	if reason != "" {
		e.Error = Text(reason)
	}
	return t.Add(at, e)
}

// Handoff sends a handoff from one agent to another.
func (t *EventBuilder) Handoff(at Location, from, to string) error {
	meta, err := json.Marshal(map[string]string{"from": from})
	if err != nil {
		return err
	}
	return t.Add(at, &unloop.Event{Type: unloop.HandoffStarted, Agent: to, Metadata: meta})
}

// Usage is the usage of a model call.
type Usage struct {
	Model  string
	Tokens int64         // sum of input and output
	Kinds  *unloop.Usage // by kind; nil if the input has only a total
	Cost   float64       // US dollars
}

// TokenKinds returns u in the form of events: counts are not negative, and an empty usage is nil. Some senders report cached
// input or reasoning without the whole.
func TokenKinds(u unloop.Usage) *unloop.Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.CachedInput, &u.CacheWrite, &u.Reasoning} {
		*n = max(0, *n)
	}
	if u == (unloop.Usage{}) {
		return nil
	}
	return &u
}

// Model sends an answered model call: its start and its completion.
func (t *EventBuilder) Model(at Location, u Usage) error {
	if err := t.Add(at, &unloop.Event{Type: unloop.LLMCallStarted, Model: u.Model}); err != nil {
		return err
	}
	return t.Add(at, &unloop.Event{Type: unloop.LLMCallCompleted, Model: u.Model, Tokens: u.Tokens, Usage: u.Kinds, Cost: u.Cost})
}
