package unloop

import (
	"encoding/json"
	"time"
)

// EventType is the kind of an event. Types that are not listed here are valid: they are kept, and detectors ignore them.
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
	Override          EventType = "override" // a person lets the agent continue; with a tool, calls of it are allowed from now on
	Control           EventType = "control"  // a person acts on the run: the name is one of the controls below, the text is for the agent
	SecondOpinion     EventType = "second_opinion"
	GuardDecision     EventType = "guard_decision" // the decision of a guard, if no other event carries it: see GuardReport
)

// The names of events of the type Control.
const (
	ControlNudge  = "nudge"  // the agent gets the text
	ControlPause  = "pause"  // calls wait
	ControlResume = "resume" // calls run again
	ControlHalt   = "halt"   // the run ends
)

// EventTypes returns the event types on the wire.
func EventTypes() []EventType {
	return []EventType{
		RunStarted, RunCompleted, RunFailed, LLMCallStarted, LLMCallCompleted, LLMCallFailed, ToolCallStarted, ToolCallCompleted,
		ToolCallFailed, ToolCallBlocked, RetryTriggered, HandoffStarted, StateUpdated, MemoryWrite, MessageSent, Override, SecondOpinion,
		GuardDecision, Control,
	}
}

// The roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Event is one event of a run, as it was received. Its JSON form is the wire format. An absent field and a null field are
// equal, except for output: null is an empty result, and absent means that the result was not captured.
type Event struct {
	ID       string    `json:"event_id,omitempty"`
	RunID    string    `json:"run_id,omitempty"`
	Sequence int64     `json:"sequence,omitempty"`  // position in the run, increasing; set by the sender, 0 if unknown
	Time     time.Time `json:"timestamp,omitzero"`  // when it happened; the zero time if unknown
	Type     EventType `json:"type"`                // one of EventTypes, or any other
	Agent    string    `json:"agent,omitempty"`     // the agent that acted; for a handoff, the agent that receives control
	Name     string    `json:"name,omitempty"`      // a label; the name of the tool if Tool is empty
	Status   string    `json:"status,omitempty"`    // the result as the source states it, such as success; detectors do not read it
	Model    string    `json:"model,omitempty"`     // the name of the model, of a model call
	Tool     string    `json:"tool,omitempty"`      // the name of the tool, of a tool call
	CallID   string    `json:"call_id,omitempty"`   // joins the start of a call to its outcome
	Role     string    `json:"role,omitempty"`      // of a message: RoleSystem, RoleUser or RoleAssistant
	Text     string    `json:"text,omitempty"`      // of a message
	Tokens   int64     `json:"tokens,omitempty"`    // of a model call, in total
	Cost     float64   `json:"cost,omitempty"`      // US dollars
	Latency  *float64  `json:"latency_ms,omitzero"` // milliseconds; nil if unknown

	Input    json.RawMessage `json:"input,omitempty"`    // the arguments of a call, as sent
	Output   json.RawMessage `json:"output,omitempty"`   // the result of a call; nil if it was not captured
	Error    json.RawMessage `json:"error,omitempty"`    // why it failed; usually a string
	Metadata json.RawMessage `json:"metadata,omitempty"` // an object

	Usage *Usage     `json:"usage,omitempty"`       // of a model call; nil if at most Tokens is known
	Hints *ToolHints `json:"annotations,omitempty"` // the annotations of the called tool; nil if unknown

	ParentEventID string `json:"parent_event_id,omitempty"`
	SpanID        string `json:"span_id,omitempty"`
	TraceID       string `json:"trace_id,omitempty"`

	// Index is the position of the event in the list that it was read from, from 0. It is not part of the wire format.
	Index int `json:"-"`

	// Line is the line of the file that the event was read from, from 1; 0 if unknown. It is not part of the wire format.
	Line int `json:"-"`
}

// ToolHints are tool annotations as the Model Context Protocol defines them. The author of the tool writes them, so they
// are not trusted: they may choose between thresholds, and never remove a limit.
type ToolHints struct {
	ReadOnly   bool `json:"readOnlyHint,omitempty"`
	Idempotent bool `json:"idempotentHint,omitempty"`
}

// Usage is the token usage of a model call by kind. A count that is not known is 0.
type Usage struct {
	Input       int64 `json:"input_tokens,omitempty"` // the whole prompt, cached tokens included
	Output      int64 `json:"output_tokens,omitempty"`
	CachedInput int64 `json:"cached_input_tokens,omitempty"` // the part of Input that was read from a cache
	CacheWrite  int64 `json:"cache_write_tokens,omitempty"`  // the part of Input that was written to a cache
	Reasoning   int64 `json:"reasoning_tokens,omitempty"`    // the part of Output that is reasoning
}

// ToolName returns Tool, or Name if Tool is empty.
func (e *Event) ToolName() string {
	if e.Tool != "" {
		return e.Tool
	}
	return e.Name
}

// Clone returns a copy of e that shares no raw JSON, Latency or Usage with it. A caller that keeps an event after a
// callback returns needs a clone, because the memory of the raw JSON may be reused.
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
