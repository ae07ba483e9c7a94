package unloop

import (
	"encoding/json"
	"time"
)

// EventType says what happened. A type that is not listed here is kept and ignored by the detectors.
type EventType string

// The event types on the wire.
const (
	RunStarted        EventType = "run_started"
	RunCompleted      EventType = "run_completed"
	RunFailed         EventType = "run_failed"
	LLMCallStarted    EventType = "llm_call_started"
	LLMCallCompleted  EventType = "llm_call_completed"
	LLMCallFailed     EventType = "llm_call_failed"
	ToolCallStarted   EventType = "tool_call_started"
	ToolCallCompleted EventType = "tool_call_completed"
	ToolCallFailed    EventType = "tool_call_failed"
	ToolCallBlocked   EventType = "tool_call_blocked"
	RetryTriggered    EventType = "retry_triggered"
	HandoffStarted    EventType = "handoff_started"
	StateUpdated      EventType = "state_updated"
	MemoryWrite       EventType = "memory_write"
	MessageSent       EventType = "message"
	Override          EventType = "override"
)

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Event is one thing that happened in a run, as it arrived. Its JSON form is the wire format; absent and null
// differ only in Output, where null is an answer that says nothing and absent is no answer.
type Event struct {
	ID       string    `json:"event_id,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	Sequence int64     `json:"sequence,omitempty"`  // position in the run, counted up by the sender; 0 when unknown
	Time     time.Time `json:"timestamp,omitzero"`  // when it happened; zero when unknown
	Type     EventType `json:"type"`                //
	Agent    string    `json:"agent,omitempty"`     // who acted; for a handoff, who receives control
	Name     string    `json:"name,omitempty"`      // a label; the tool's name where Tool is missing
	Status   string    `json:"status,omitempty"`    //
	Model    string    `json:"model,omitempty"`     //
	Tool     string    `json:"tool,omitempty"`      //
	CallID   string    `json:"call_id,omitempty"`   // joins a call's start to its outcome
	Role     string    `json:"role,omitempty"`      // of a message: system, user or assistant
	Text     string    `json:"text,omitempty"`      // of a message
	Tokens   int64     `json:"tokens,omitempty"`    // of a model call, all together
	Cost     float64   `json:"cost,omitempty"`      // US dollars
	Latency  *float64  `json:"latency_ms,omitzero"` // milliseconds; nil when unknown

	Input    json.RawMessage `json:"input,omitempty"`    // a call's arguments, as sent
	Output   json.RawMessage `json:"output,omitempty"`   // a call's result
	Error    json.RawMessage `json:"error,omitempty"`    // why it failed; a string as a rule
	Metadata json.RawMessage `json:"metadata,omitempty"` // an object

	Usage *Usage     `json:"usage,omitempty"`       // of a model call; nil when only Tokens are known, or nothing
	Hints *ToolHints `json:"annotations,omitempty"` // what the tool of a call says of itself

	ParentEventID string `json:"parent_event_id,omitempty"`
	SpanID        string `json:"span_id,omitempty"`
	TraceID       string `json:"trace_id,omitempty"`

	// Index is where the event stood in the list it was read from, from 0. It is not on the wire.
	Index int `json:"-"`
}

// ToolHints are what a tool says of itself, in the words of the Model Context Protocol. They come from whoever wrote the
// tool, so they may choose thresholds but never lift a limit.
type ToolHints struct {
	ReadOnly   bool `json:"readOnlyHint,omitempty"`
	Idempotent bool `json:"idempotentHint,omitempty"`
}

// Usage is what a model call took, in tokens, as far as it is told apart.
type Usage struct {
	Input       int64 `json:"input_tokens,omitempty"` // all of the prompt, the cached part included
	Output      int64 `json:"output_tokens,omitempty"`
	CachedInput int64 `json:"cached_input_tokens,omitempty"` // the part of Input that was read from a cache
	CacheWrite  int64 `json:"cache_write_tokens,omitempty"`  // the part of Input that was written to a cache
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`    // the part of Output that the model reasoned with
}

// ToolName returns Tool, or else Name.
func (e *Event) ToolName() string {
	if e.Tool != "" {
		return e.Tool
	}
	return e.Name
}

// Clone returns a copy that shares no memory with e's raw JSON, for those who keep an event beyond a callback.
func (e *Event) Clone() *Event {
	c := *e
	c.Input = cloneRaw(e.Input)
	c.Output = cloneRaw(e.Output)
	c.Error = cloneRaw(e.Error)
	c.Metadata = cloneRaw(e.Metadata)
	if e.Latency != nil {
		ms := *e.Latency
		c.Latency = &ms
	}
	if e.Usage != nil {
		u := *e.Usage
		c.Usage = &u
	}
	return &c
}

func cloneRaw(m json.RawMessage) json.RawMessage {
	if m == nil {
		return nil
	}
	return append(make(json.RawMessage, 0, len(m)), m...)
}
