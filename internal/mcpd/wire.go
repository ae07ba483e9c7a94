package mcpd

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
)

// Run is the summary of a run.
type Run struct {
	ID            string  `json:"run_id" jsonschema:"the run's id"`
	Name          string  `json:"name" jsonschema:"display name; the run's id if it has no other"`
	Project       *string `json:"project" jsonschema:"project of the run"`
	Status        string  `json:"status" jsonschema:"running, completed, failed or abandoned (it did not end, and had no events for long)"`
	StartedAt     *string `json:"started_at" jsonschema:"time of its first event"`
	EndedAt       *string `json:"ended_at" jsonschema:"time when it ended; null while it runs"`
	Events        int     `json:"event_count" jsonschema:"number of events"`
	Warnings      int     `json:"warning_count" jsonschema:"number of warnings"`
	HealthScore   int     `json:"health_score" jsonschema:"0 to 100, in the range of loop_health_status: healthy 80 to 100, repeated 50 to 79, looping 20 to 49, stuck 0 to 19"`
	HealthStatus  string  `json:"loop_health_status" jsonschema:"how the run does as a whole: healthy, repeated (and recovered), looping or stuck"`
	WorstDecision string  `json:"worst_decision" jsonschema:"the most severe decision so far: allow, warn, block or halt; guarded_by says whether a guard carried it out"`
	GuardedBy     *string `json:"guarded_by" jsonschema:"the guard that carries out decisions in this run; null: the run is observed, and decisions say what a guard would have done"`
}

// runOf returns a run of the API in the form of the tools: with another name of its id, and without the members for the
// dashboard.
func runOf(r *api.RunSummary) Run {
	return Run{
		ID: r.ID, Name: r.Name, Project: api.OrNull(r.Project), Status: r.Status, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Events: r.EventCount, Warnings: r.WarningCount, HealthScore: r.HealthScore, HealthStatus: r.HealthStatus, WorstDecision: r.WorstDecision,
		GuardedBy: r.GuardedBy,
	}
}

// Warning is a warning of a run.
type Warning struct {
	Type     string         `json:"type" jsonschema:"name of the rule"`
	Title    string         `json:"title" jsonschema:"the rule's name in words"`
	Severity string         `json:"severity" jsonschema:"info, warning or critical"`
	Message  string         `json:"message" jsonschema:"what happened"`
	EventID  *string        `json:"event_id" jsonschema:"the culprit: the latest event of the warning"`
	Details  map[string]any `json:"details" jsonschema:"why it matters (why), what to try (try), number of repeats (count), supporting events (evidence), and further details"`
}

// warningOf adds a title, which it derives from the name of the rule.
func warningOf(w *api.Warning) Warning {
	title := strings.ReplaceAll(w.Type, "_", " ")
	if title != "" {
		title = strings.ToUpper(title[:1]) + title[1:]
	}
	out := Warning{Type: w.Type, Title: title, Severity: w.Severity, Message: w.Message, EventID: w.EventID, Details: map[string]any{}}
	if all, ok := readable(w.Details).(map[string]any); ok {
		out.Details = all
	}
	return out
}

func warningsOf(warnings []api.Warning) []Warning {
	all := make([]Warning, 0, len(warnings))
	for i := range warnings {
		all = append(all, warningOf(&warnings[i]))
	}
	return all
}

// Event is an event of a run.
type Event struct {
	ID        string        `json:"event_id" jsonschema:"the event's id"`
	Sequence  *int64        `json:"sequence" jsonschema:"position in the run, as numbered by the sender"`
	Timestamp string        `json:"timestamp" jsonschema:"time when it happened, else time of arrival"`
	Type      string        `json:"type" jsonschema:"type of the event, such as tool_call_started"`
	Agent     *string       `json:"agent" jsonschema:"the agent that acted; for a handoff, the agent that receives control"`
	Name      *string       `json:"name" jsonschema:"a label; the tool's name if tool is null"`
	Tool      *string       `json:"tool" jsonschema:"of a tool call"`
	Status    *string       `json:"status" jsonschema:"status, as set by the sender"`
	Model     *string       `json:"model" jsonschema:"of a model call"`
	Input     any           `json:"input" jsonschema:"arguments of the call"`
	Output    any           `json:"output" jsonschema:"result of the call"`
	Error     any           `json:"error" jsonschema:"the error"`
	Tokens    *int64        `json:"tokens" jsonschema:"total tokens of a model call"`
	Cost      *float64      `json:"cost" jsonschema:"US dollars"`
	Latency   *float64      `json:"latency_ms" jsonschema:"milliseconds"`
	CallID    *string       `json:"call_id" jsonschema:"id that joins the start of a call to its outcome"`
	Role      *string       `json:"role" jsonschema:"of a message: system, user or assistant"`
	Text      *string       `json:"text" jsonschema:"of a message"`
	Analysis  *api.Analysis `json:"analysis" jsonschema:"how the event compares with the earlier events of the run; null if unknown"`
	Truncated []string      `json:"truncated" jsonschema:"which of input, output, error and text were cut to 2000 bytes"`
}

// maxText is the maximum size of an input, an output, an error or a text in bytes. The description of the tool and its schema
// contain it, too.
const maxText = 2000

// eventOf returns a copy that shares no memory with the raw JSON of e.
func eventOf(e *unloop.Event) Event {
	told := Event{
		ID: e.ID, Sequence: api.OrNull(e.Sequence), Timestamp: timestamp(e.Time), Type: string(e.Type), Agent: api.OrNull(e.Agent),
		Name: api.OrNull(e.Name), Tool: api.OrNull(e.Tool), Status: api.OrNull(e.Status), Model: api.OrNull(e.Model), Tokens: api.OrNull(e.Tokens),
		Cost: api.OrNull(e.Cost), Latency: e.Latency, CallID: api.OrNull(e.CallID), Role: api.OrNull(e.Role), Truncated: []string{},
	}
	told.Input = told.shorten("input", e.Input)
	told.Output = told.shorten("output", e.Output)
	told.Error = told.shorten("error", e.Error)
	told.Text = api.OrNull(strings.Clone(told.cut("text", e.Text)))
	return told
}

// shorten returns a value, or the beginning of its text if it is too long.
func (e *Event) shorten(field string, raw json.RawMessage) any {
	if len(raw) <= maxText {
		return readable(raw)
	}
	if s, ok := readable(raw).(string); ok {
		return strings.Clone(e.cut(field, s))
	}
	return e.cut(field, string(raw[:maxText+1]))
}

// cut cuts a text between characters and records that it did.
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

// readable decodes JSON, which may contain duplicate names; the last one counts. Numbers keep their digits. Invalid JSON gives
// nil.
func readable(raw json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil
	}
	return value
}

// timestamp returns a time in RFC 3339, or "" for the zero time.
func timestamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return api.Timestamp(t)
}
