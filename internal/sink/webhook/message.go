package webhook

import (
	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/sink"
)

// message is the message in the format json. docs/webhooks.md describes it.
type message struct {
	ID       string    `json:"id"` // the same for the same endpoint, warning and level
	Type     string    `json:"type"`
	Level    string    `json:"level"`
	Version  string    `json:"version"`
	Run      run       `json:"run"`
	Warning  warning   `json:"warning"`
	Decision *decision `json:"decision"`
}

type run struct {
	ID            string  `json:"id"`
	Name          string  `json:"name"`
	Project       string  `json:"project"`
	Status        string  `json:"status"`
	URL           *string `json:"url"`
	StartedAt     *string `json:"started_at"`
	EndedAt       *string `json:"ended_at"`
	Cost          float64 `json:"total_cost"`
	Tokens        int64   `json:"total_tokens"`
	Events        int     `json:"event_count"`
	Warnings      int     `json:"warning_count"`
	HealthScore   int     `json:"health_score"`
	HealthStatus  string  `json:"loop_health_status"`
	WorstDecision string  `json:"worst_decision"`
	GuardedBy     *string `json:"guarded_by"` // null: the run is observed
}

type warning struct {
	ID        string  `json:"warning_id"`
	RunID     string  `json:"run_id"`
	EventID   *string `json:"event_id"`
	Type      string  `json:"type"`
	Severity  string  `json:"severity"`
	Message   string  `json:"message"`
	Why       string  `json:"why"`
	Try       string  `json:"try"`
	Subject   string  `json:"subject"`
	Tool      *string `json:"tool"`
	Count     *int    `json:"count"`
	CreatedAt string  `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
}

type decision struct {
	Action  string `json:"action"`
	ByGuard bool   `json:"by_guard"` // the guard of the run carried it out; false if the run has no acting guard
	Code    string `json:"code"`
	EventID string `json:"event_id"`
}

func (w *notifier) messageOf(n *sink.Notice) *message {
	r, found := &n.Run, &n.Warning
	m := &message{
		ID: n.ID, Type: typeOf(n.Level), Level: n.Level, Version: w.options.Version,
		Run: run{
			ID: r.ID, Name: r.Name, Project: r.Project, Status: r.Status, URL: api.OrNull(sink.RunURL(w.options.URL, r.ID)), StartedAt: r.StartedAt,
			EndedAt: r.EndedAt, Cost: r.Cost, Tokens: r.Tokens, Events: r.EventCount, Warnings: r.WarningCount,
			HealthScore: r.HealthScore, HealthStatus: r.HealthStatus, WorstDecision: r.WorstDecision, GuardedBy: r.GuardedBy,
		},
		Warning: warning{
			ID: found.ID, RunID: found.RunID, EventID: found.EventID, Type: found.Type, Severity: found.Severity, Message: found.Message,
			Why: n.Why, Try: n.Try, Subject: found.Subject, Tool: found.Tool, Count: found.Count, CreatedAt: found.CreatedAt, UpdatedAt: found.UpdatedAt,
		},
	}
	if d := n.Decision; d != nil {
		m.Decision = &decision{d.Action, d.ByGuard, d.Code, d.EventID}
	}
	return m
}

// typeOf returns the type of a message, with which a receiver distinguishes a test from a warning.
func typeOf(level string) string {
	if level == sink.Test {
		return "test"
	}
	return "warning"
}
