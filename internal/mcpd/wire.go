package mcpd

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
)

// Run is a run at a glance.
type Run struct {
	ID            string  `json:"run_id" jsonschema:"the run's id"`
	Name          *string `json:"name" jsonschema:"what people call it"`
	Project       *string `json:"project" jsonschema:"to which project it belongs"`
	Status        string  `json:"status" jsonschema:"running, completed, failed or closed (nothing came for so long that it is taken to be over)"`
	StartedAt     *string `json:"started_at" jsonschema:"when its first event happened"`
	EndedAt       *string `json:"ended_at" jsonschema:"when it ended; null while it runs"`
	Events        int     `json:"event_count" jsonschema:"how many events it has"`
	Warnings      int     `json:"warning_count" jsonschema:"how many warnings it has"`
	HealthScore   int     `json:"health_score" jsonschema:"100 is well, 0 is stuck"`
	HealthStatus  string  `json:"loop_health_status" jsonschema:"Healthy, Warning, Likely stuck or Failed"`
	WorstDecision string  `json:"worst_decision" jsonschema:"the hardest that the policy decided so far: allow, warn, block or halt"`
}

// Metrics are the totals of a run.
type Metrics struct {
	ID            string  `json:"run_id" jsonschema:"the run's id"`
	Events        int     `json:"total_events" jsonschema:"events of all types"`
	Duration      float64 `json:"total_duration_sec" jsonschema:"seconds from its first event to its last"`
	LLMCalls      int     `json:"total_llm_calls" jsonschema:"model calls that were started"`
	ToolCalls     int     `json:"total_tool_calls" jsonschema:"tool calls that were started"`
	Retries       int     `json:"total_retries" jsonschema:"retries"`
	Handoffs      int     `json:"total_handoffs" jsonschema:"times that control went to another agent"`
	Errors        int     `json:"total_errors" jsonschema:"what failed"`
	Tokens        int64   `json:"total_tokens" jsonschema:"of all model calls"`
	Cost          float64 `json:"estimated_cost" jsonschema:"US dollars, as far as they are known"`
	MeanLatency   float64 `json:"average_latency_ms" jsonschema:"milliseconds, of the events that tell one"`
	MaxLatency    float64 `json:"max_latency_ms" jsonschema:"milliseconds, of the slowest event"`
	BusiestTool   *string `json:"most_used_tool" jsonschema:"the tool that was called most"`
	BusiestAgent  *string `json:"most_active_agent" jsonschema:"the agent of the most events"`
	Warnings      int     `json:"warnings_count" jsonschema:"how many warnings it has"`
	HealthScore   int     `json:"health_score" jsonschema:"100 is well, 0 is stuck"`
	HealthStatus  string  `json:"loop_health_status" jsonschema:"Healthy, Warning, Likely stuck or Failed"`
	WorstDecision string  `json:"worst_decision" jsonschema:"the hardest that the policy decided so far: allow, warn, block or halt"`
}

// Warning is what was found in a run.
type Warning struct {
	Type     string         `json:"type" jsonschema:"the rule that found it"`
	Title    string         `json:"title" jsonschema:"the rule's name in words"`
	Severity string         `json:"severity" jsonschema:"info, warning or critical"`
	Message  string         `json:"message" jsonschema:"what happened"`
	EventID  *string        `json:"event_id" jsonschema:"the culprit: the latest event that belongs to it"`
	Details  map[string]any `json:"details" jsonschema:"why it matters (why), what to try (try), how often (count), the events that prove it (evidence), and what else is known"`
}

// newWarning makes the title of the rule's name.
func newWarning(rule, severity, message, event string, details json.RawMessage) Warning {
	words := strings.ReplaceAll(rule, "_", " ")
	if words != "" {
		words = strings.ToUpper(words[:1]) + words[1:]
	}
	w := Warning{Type: rule, Title: words, Severity: severity, Message: message, EventID: orNull(event), Details: map[string]any{}}
	if all, ok := readable(details).(map[string]any); ok {
		w.Details = all
	}
	return w
}

// Event is one thing that happened in a run.
type Event struct {
	ID        string    `json:"event_id" jsonschema:"the event's id"`
	Sequence  *int64    `json:"sequence" jsonschema:"its place in the run, as its sender counts"`
	Timestamp string    `json:"timestamp" jsonschema:"when it happened, or else arrived"`
	Type      string    `json:"type" jsonschema:"what happened, such as tool_call_started"`
	Agent     *string   `json:"agent" jsonschema:"who acted; for a handoff, who receives control"`
	Name      *string   `json:"name" jsonschema:"a label; the tool's name where tool is null"`
	Tool      *string   `json:"tool" jsonschema:"of a tool call"`
	Status    *string   `json:"status" jsonschema:"as its sender says"`
	Model     *string   `json:"model" jsonschema:"of a model call"`
	Input     any       `json:"input" jsonschema:"a call's arguments"`
	Output    any       `json:"output" jsonschema:"a call's result"`
	Error     any       `json:"error" jsonschema:"why it failed"`
	Tokens    *int64    `json:"tokens" jsonschema:"of a model call, all together"`
	Cost      *float64  `json:"cost" jsonschema:"US dollars"`
	Latency   *float64  `json:"latency_ms" jsonschema:"milliseconds"`
	CallID    *string   `json:"call_id" jsonschema:"joins a call's start to its outcome"`
	Role      *string   `json:"role" jsonschema:"of a message: system, user or assistant"`
	Text      *string   `json:"text" jsonschema:"of a message"`
	Analysis  *Analysis `json:"analysis" jsonschema:"how it compares with the earlier events of the run; null if nothing is known"`
	Truncated []string  `json:"truncated" jsonschema:"which of input, output, error and text were cut to their first 2000 bytes"`
}

// Analysis is how an event compares with the earlier events of its run.
type Analysis struct {
	Call         string `json:"call,omitempty" jsonschema:"identity of the call, or of an assistant's text: equal for equal calls of the run"`
	Result       string `json:"result,omitempty" jsonschema:"identity of the result, without times and ids: equal for equal results of the run"`
	Novel        *bool  `json:"novel,omitempty" jsonschema:"whether the result is new in the run; absent if that is unknown"`
	Repeats      int    `json:"repeats,omitempty" jsonschema:"number of times that the call had this result, this time included; absent for the first time"`
	RepeatsEvent string `json:"repeats_event_id,omitempty" jsonschema:"id of the earlier event that this one repeats"`
}

// analysisOf decodes a stored analysis; nil for none.
func analysisOf(stored []byte) *Analysis {
	var a *Analysis
	if len(stored) == 0 || json.Unmarshal(stored, &a) != nil {
		return nil
	}
	return a
}

// maxText is how many bytes of an input, an output, an error or a text are told. The tool's description and schema say so, too.
const maxText = 2000

// eventOf shares no memory with e's raw JSON.
func eventOf(e *unloop.Event) Event {
	told := Event{
		ID: e.ID, Sequence: orNull(e.Sequence), Timestamp: timestamp(e.Time), Type: string(e.Type), Agent: orNull(e.Agent),
		Name: orNull(e.Name), Tool: orNull(e.Tool), Status: orNull(e.Status), Model: orNull(e.Model), Tokens: orNull(e.Tokens),
		Cost: orNull(e.Cost), Latency: e.Latency, CallID: orNull(e.CallID), Role: orNull(e.Role), Truncated: []string{},
	}
	told.Input = told.shorten("input", e.Input)
	told.Output = told.shorten("output", e.Output)
	told.Error = told.shorten("error", e.Error)
	told.Text = orNull(strings.Clone(told.cut("text", e.Text)))
	return told
}

// shorten returns a value, or the beginning of its text where that is long.
func (e *Event) shorten(field string, raw json.RawMessage) any {
	if len(raw) <= maxText {
		return readable(raw)
	}
	if s, ok := readable(raw).(string); ok {
		return strings.Clone(e.cut(field, s))
	}
	return e.cut(field, string(raw[:maxText+1]))
}

// cut cuts a text, between characters, and notes that it did.
func (e *Event) cut(field, text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	e.Truncated = append(e.Truncated, field)
	end := maxText
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// readable decodes JSON that may hold doubled names, of which the last stands; numbers stay as they are written. What is no JSON
// is nil.
func readable(raw json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil
	}
	return value
}

// timestamp returns a time in RFC 3339; "" for one that is not known.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}

// orNull is nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
