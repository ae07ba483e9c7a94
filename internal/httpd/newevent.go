package httpd

// NewEvent describes an event as it is sent. It is read by the native decoder; members that it does not know are left out.
type NewEvent struct {
	ID        string         `json:"event_id,omitempty" nullable:"true" doc:"Unique in its run; the server makes one where there is none, but then the event must not be sent again."`
	RunID     string         `json:"run_id" doc:"Of its run, which need not be announced."`
	Sequence  int64          `json:"sequence,omitempty" nullable:"true" doc:"Its place in the run, counted up by the sender from 1. Without it the time counts, and without that the arrival."`
	Timestamp string         `json:"timestamp,omitempty" nullable:"true" doc:"When it happened: RFC 3339, or a number of seconds, milliseconds, microseconds or nanoseconds since 1970."`
	Type      string         `json:"type" doc:"What happened: run_started, run_completed, run_failed, llm_call_started, llm_call_completed, llm_call_failed, tool_call_started, tool_call_completed, tool_call_failed, tool_call_blocked, retry_triggered, handoff_started, state_updated, memory_write, message, override. Others are kept and otherwise ignored."`
	Project   string         `json:"project,omitempty" nullable:"true" doc:"To which project its run belongs."`
	Agent     string         `json:"agent,omitempty" nullable:"true" doc:"Who acted; for a handoff, who receives control."`
	Name      string         `json:"name,omitempty" nullable:"true" doc:"A label; the tool's name where tool is missing; for run_started, the run's name."`
	Status    string         `json:"status,omitempty" nullable:"true" doc:"A word of the sender's."`
	Model     string         `json:"model,omitempty" nullable:"true" doc:"Of a model call."`
	Tool      string         `json:"tool,omitempty" nullable:"true" doc:"Of a tool call."`
	CallID    string         `json:"call_id,omitempty" nullable:"true" doc:"Joins a call's start to its outcome."`
	Role      string         `json:"role,omitempty" nullable:"true" doc:"Of a message: system, user or assistant."`
	Text      string         `json:"text,omitempty" nullable:"true" doc:"Of a message."`
	Input     any            `json:"input,omitempty" doc:"A call's arguments."`
	Output    any            `json:"output,omitempty" doc:"A call's result; null is a result that says nothing."`
	Error     any            `json:"error,omitempty" doc:"Why it failed: a text or an object."`
	Tokens    int64          `json:"tokens,omitempty" nullable:"true" minimum:"0" doc:"Of a model call, all together."`
	Usage     *Usage         `json:"usage,omitempty" doc:"The tokens of a model call, told apart."`
	Cost      float64        `json:"cost,omitempty" nullable:"true" minimum:"0" doc:"US dollars; where it is missing the server works it out of the tokens."`
	Latency   float64        `json:"latency_ms,omitempty" nullable:"true" minimum:"0" doc:"Milliseconds."`
	Hints     *ToolHints     `json:"annotations,omitempty" doc:"What the tool says of itself."`
	Parent    string         `json:"parent_event_id,omitempty" nullable:"true" doc:"The event that led to it."`
	SpanID    string         `json:"span_id,omitempty" nullable:"true" doc:"Of its span."`
	TraceID   string         `json:"trace_id,omitempty" nullable:"true" doc:"Of its trace."`
	Metadata  map[string]any `json:"metadata,omitempty" doc:"An object that is kept as it is; for run_started, the run's."`
}
