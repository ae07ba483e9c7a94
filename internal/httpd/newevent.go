package httpd

// NewEvent describes an event as it is sent. It is read by the native decoder; members that it does not know are left out.
type NewEvent struct {
	ID        string         `json:"event_id,omitempty" nullable:"true" doc:"The event's id, unique within its run. Default: the server generates one. Events without an id must not be sent again."`
	RunID     string         `json:"run_id" doc:"Id of the event's run. The run does not have to be created first."`
	Sequence  int64          `json:"sequence,omitempty" nullable:"true" doc:"Position in the run, numbered by the sender from 1. Default: events are ordered by timestamp, else by arrival."`
	Timestamp string         `json:"timestamp,omitempty" nullable:"true" doc:"Time when it happened: RFC 3339, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970."`
	Type      string         `json:"type" doc:"Type of the event: run_started, run_completed, run_failed, llm_call_started, llm_call_completed, llm_call_failed, tool_call_started, tool_call_completed, tool_call_failed, tool_call_blocked, retry_triggered, handoff_started, state_updated, memory_write, message, override, second_opinion. Events of other types are stored and otherwise ignored."`
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
