package report

import (
	"io"
	"math"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/policy"
)

// JSON returns a writer that writes a run as one object on a line of its own, at once.
func JSON(w io.Writer) Writer { return &jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

type jsonRun struct {
	RunID     string         `json:"run_id"`
	Source    string         `json:"source"`
	Format    string         `json:"format"`
	Events    int            `json:"events"`
	Steps     int            `json:"steps"`
	Health    policy.Health  `json:"health"`
	Verdict   policy.Verdict `json:"verdict"`
	Metrics   jsonMetrics    `json:"metrics"`
	Warnings  []jsonWarning  `json:"warnings"`
	Decisions []jsonDecision `json:"decisions"`
}

type jsonMetrics struct {
	Events       int     `json:"total_events"`
	Duration     float64 `json:"total_duration_sec"`
	LLMCalls     int     `json:"total_llm_calls"`
	ToolCalls    int     `json:"total_tool_calls"`
	Retries      int     `json:"total_retries"`
	Handoffs     int     `json:"total_handoffs"`
	Errors       int     `json:"total_errors"`
	Tokens       int64   `json:"total_tokens"`
	Cost         float64 `json:"estimated_cost"`
	MeanLatency  float64 `json:"average_latency_ms"`
	MaxLatency   float64 `json:"max_latency_ms"`
	BusiestTool  *string `json:"most_used_tool"`
	BusiestAgent *string `json:"most_active_agent"`
	Warnings     int     `json:"warnings_count"`
}

type jsonWarning struct {
	Type       string          `json:"type"`
	Severity   unloop.Severity `json:"severity"`
	Subject    string          `json:"subject"`
	Count      *int            `json:"count"`
	EventID    string          `json:"event_id"`
	EventIndex int             `json:"event_index"`
	FirstIndex int             `json:"first_event_index"`
	Message    string          `json:"message"`
	Why        string          `json:"why"`
	Try        string          `json:"try"`
	Evidence   []string        `json:"evidence"`
}

type jsonDecision struct {
	EventIndex int           `json:"event_index"`
	EventID    string        `json:"event_id"`
	Action     policy.Action `json:"action"`
	Code       string        `json:"code"`
	Message    string        `json:"message"`
}

func (j *jsonWriter) Write(r *Run) error {
	verdict := jsonRun{
		RunID: r.ID, Source: r.Source, Format: r.Format, Events: r.Events, Steps: r.Steps, Health: r.Health, Verdict: r.Verdict,
		Metrics:   metricsOf(r),
		Warnings:  make([]jsonWarning, 0, len(r.Warnings)),
		Decisions: make([]jsonDecision, 0, len(r.Decisions)),
	}
	for k := range r.Warnings {
		verdict.Warnings = append(verdict.Warnings, warningOf(&r.Warnings[k].Finding))
	}
	for _, d := range r.Decisions {
		verdict.Decisions = append(verdict.Decisions, jsonDecision{
			EventIndex: d.Event.Index, EventID: d.Event.ID, Action: d.Action, Code: d.Code, Message: d.Message,
		})
	}
	line, err := encode(verdict)
	if err != nil {
		return err
	}
	_, err = j.w.Write(line)
	return err
}

// Close does nothing: no line at all is a valid list of lines.
func (j *jsonWriter) Close() error { return nil }

func metricsOf(r *Run) jsonMetrics {
	m := &r.Metrics
	return jsonMetrics{
		Events: m.Events, Duration: round(m.Duration.Seconds(), 3), LLMCalls: m.LLMCalls, ToolCalls: m.ToolCalls,
		Retries: m.Retries, Handoffs: m.Handoffs, Errors: m.Errors, Tokens: m.Tokens,
		Cost: round(m.Cost, 6), MeanLatency: round(m.MeanLatency, 2), MaxLatency: finite(m.MaxLatency),
		BusiestTool: orNull(m.BusiestTool), BusiestAgent: orNull(m.BusiestAgent), Warnings: len(r.Warnings),
	}
}

func warningOf(f *unloop.Finding) jsonWarning {
	w := jsonWarning{
		Type: f.Rule, Severity: f.Severity, Subject: f.Subject, EventID: f.Event.ID, EventIndex: f.Event.Index,
		FirstIndex: f.First.Index, Message: f.What, Why: f.Why, Try: f.Try, Evidence: idsOf(f.Evidence),
	}
	if f.Count != 0 {
		w.Count = &f.Count
	}
	return w
}

func idsOf(events []unloop.EventRef) []string {
	ids := make([]string, 0, len(events))
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// round rounds to so many decimal places. Numbers without such places stay as they are.
func round(x float64, places int) float64 {
	unit := math.Pow10(places)
	if math.Abs(x) > 1e15 {
		return finite(x)
	}
	return finite(math.Round(x*unit) / unit)
}

// finite keeps a sum that overflowed within what JSON can say.
func finite(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return math.Max(-math.MaxFloat64, math.Min(math.MaxFloat64, x))
}
