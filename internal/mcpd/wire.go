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

// Run is a run at a glance.
type Run struct {
	ID            string  `json:"run_id" jsonschema:"the run's id"`
	Name          string  `json:"name" jsonschema:"display name; the run's id if it has no other"`
	Project       *string `json:"project" jsonschema:"to which project it belongs"`
	Status        string  `json:"status" jsonschema:"running, completed, failed or abandoned (nothing came for so long that it is taken to be over)"`
	StartedAt     *string `json:"started_at" jsonschema:"when its first event happened"`
	EndedAt       *string `json:"ended_at" jsonschema:"when it ended; null while it runs"`
	Events        int     `json:"event_count" jsonschema:"how many events it has"`
	Warnings      int     `json:"warning_count" jsonschema:"how many warnings it has"`
	HealthScore   int     `json:"health_score" jsonschema:"100 is well, 0 is stuck"`
	HealthStatus  string  `json:"loop_health_status" jsonschema:"how it does as a whole: healthy, repeated (and recovered), looping or stuck"`
	WorstDecision string  `json:"worst_decision" jsonschema:"the hardest decision so far: allow, warn, block or halt; see guarded_by for whether somebody carried it out"`
	GuardedBy     *string `json:"guarded_by" jsonschema:"the guard that carries out decisions in this run; null: the run is observed, and decisions say what a guard would have done"`
}

// runOf returns a run of the API as the tools return it: under another name of its id, and without what is for the dashboard.
func runOf(r *api.RunSummary) Run {
	return Run{
		ID: r.ID, Name: r.Name, Project: api.OrNull(r.Project), Status: r.Status, StartedAt: r.StartedAt, EndedAt: r.EndedAt,
		Events: r.EventCount, Warnings: r.WarningCount, HealthScore: r.HealthScore, HealthStatus: r.HealthStatus, WorstDecision: r.WorstDecision,
		GuardedBy: r.GuardedBy,
	}
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

// warningOf adds a title, which is made of the rule's name.
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

// Event is one thing that happened in a run.
type Event struct {
	ID        string        `json:"event_id" jsonschema:"the event's id"`
	Sequence  *int64        `json:"sequence" jsonschema:"its place in the run, as its sender counts"`
	Timestamp string        `json:"timestamp" jsonschema:"when it happened, or else arrived"`
	Type      string        `json:"type" jsonschema:"what happened, such as tool_call_started"`
	Agent     *string       `json:"agent" jsonschema:"who acted; for a handoff, who receives control"`
	Name      *string       `json:"name" jsonschema:"a label; the tool's name where tool is null"`
	Tool      *string       `json:"tool" jsonschema:"of a tool call"`
	Status    *string       `json:"status" jsonschema:"as its sender says"`
	Model     *string       `json:"model" jsonschema:"of a model call"`
	Input     any           `json:"input" jsonschema:"a call's arguments"`
	Output    any           `json:"output" jsonschema:"a call's result"`
	Error     any           `json:"error" jsonschema:"why it failed"`
	Tokens    *int64        `json:"tokens" jsonschema:"of a model call, all together"`
	Cost      *float64      `json:"cost" jsonschema:"US dollars"`
	Latency   *float64      `json:"latency_ms" jsonschema:"milliseconds"`
	CallID    *string       `json:"call_id" jsonschema:"joins a call's start to its outcome"`
	Role      *string       `json:"role" jsonschema:"of a message: system, user or assistant"`
	Text      *string       `json:"text" jsonschema:"of a message"`
	Analysis  *api.Analysis `json:"analysis" jsonschema:"how it compares with the earlier events of the run; null if nothing is known"`
	Truncated []string      `json:"truncated" jsonschema:"which of input, output, error and text were cut to their first 2000 bytes"`
}

// maxText is how many bytes of an input, an output, an error or a text are told. The tool's description and schema say so, too.
const maxText = 2000

// eventOf shares no memory with e's raw JSON.
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
	return api.Timestamp(t)
}
