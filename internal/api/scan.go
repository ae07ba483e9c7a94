package api

import (
	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// ScanRun is the verdict on a run, as scan --format json writes it: one object on one line. Its members have the names of the published
// scanner that it replaces, which differ from those of the HTTP API.
type ScanRun struct {
	RunID     string         `json:"run_id"`
	Name      string         `json:"name,omitempty"`
	Source    string         `json:"source"`
	Format    string         `json:"format"`
	Events    int            `json:"events"`
	Steps     int            `json:"steps"`
	Health    policy.Health  `json:"health"`
	Verdict   policy.Verdict `json:"verdict"`
	Metrics   ScanMetrics    `json:"metrics"`
	Warnings  []ScanWarning  `json:"warnings"`
	Decisions []ScanDecision `json:"decisions"`
}

// ScanMetrics are the totals of a run.
type ScanMetrics struct {
	Totals
	Warnings int `json:"warnings_count"`
}

// ScanWarning is a warning of a run.
type ScanWarning struct {
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

// ScanDecision is a decision other than allow.
type ScanDecision struct {
	EventIndex int           `json:"event_index"`
	EventID    string        `json:"event_id"`
	Action     policy.Action `json:"action"`
	Code       string        `json:"code"`
	Message    string        `json:"message"`
}

// ScanMetricsOf returns the totals of a run with so many warnings.
func ScanMetricsOf(m *unloop.Metrics, warnings int) ScanMetrics {
	totals := store.MetricsOf(m, m.Duration)
	return ScanMetrics{totalsOf(&totals), warnings}
}

// ScanWarningOf returns the warning of a finding.
func ScanWarningOf(f *unloop.Finding) ScanWarning {
	return ScanWarning{
		Type: f.Rule, Severity: f.Severity, Subject: f.Subject, Count: OrNull(f.Count), EventID: f.Event.ID, EventIndex: f.Event.Index,
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
