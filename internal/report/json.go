package report

import (
	"io"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// JSON returns a writer that writes each run immediately, as one object on one line.
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
	api.Totals
	Warnings int `json:"warnings_count"`
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

// Close does nothing: an empty list of lines is valid.
func (j *jsonWriter) Close() error { return nil }

func metricsOf(r *Run) jsonMetrics {
	totals := store.MetricsOf(&r.Metrics, r.Metrics.Duration)
	return jsonMetrics{api.TotalsOf(&totals), len(r.Warnings)}
}

func warningOf(f *unloop.Finding) jsonWarning {
	return jsonWarning{
		Type: f.Rule, Severity: f.Severity, Subject: f.Subject, Count: api.OrNull(f.Count), EventID: f.Event.ID, EventIndex: f.Event.Index,
		FirstIndex: f.First.Index, Message: f.What, Why: f.Why, Try: f.Try, Evidence: idsOf(f.Evidence),
	}
}

func idsOf(events []unloop.EventRef) []string {
	ids := make([]string, 0, len(events))
	for _, e := range events {
		ids = append(ids, e.ID)
	}
	return ids
}
