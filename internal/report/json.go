package report

import (
	"io"

	"github.com/unloop-ai/unloop/internal/api"
)

// JSON returns a writer that writes each run immediately, as one object on one line.
func JSON(w io.Writer) Writer { return &jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j *jsonWriter) Write(r *Run) error {
	verdict := api.ScanRun{
		RunID: r.ID, Name: r.Name, Source: r.Source, Format: r.Format, Events: r.Events, Steps: r.Steps, Health: r.Health, Verdict: r.Verdict,
		Metrics:   api.ScanMetricsOf(&r.Metrics, len(r.Warnings)),
		Warnings:  make([]api.ScanWarning, 0, len(r.Warnings)),
		Decisions: make([]api.ScanDecision, 0, len(r.Decisions)),
	}
	for k := range r.Warnings {
		verdict.Warnings = append(verdict.Warnings, api.ScanWarningOf(&r.Warnings[k].Finding))
	}
	for _, d := range r.Decisions {
		verdict.Decisions = append(verdict.Decisions, api.ScanDecision{
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
