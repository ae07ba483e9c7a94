package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// message is what is sent in the format json. docs/webhooks.md describes it.
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
	ID            string     `json:"id"`
	Name          string     `json:"name"`
	Project       string     `json:"project"`
	Status        string     `json:"status"`
	URL           *string    `json:"url"`
	StartedAt     *time.Time `json:"started_at"`
	EndedAt       *time.Time `json:"ended_at"`
	Cost          float64    `json:"total_cost"`
	Tokens        int64      `json:"total_tokens"`
	Events        int        `json:"event_count"`
	Warnings      int        `json:"warning_count"`
	HealthScore   int        `json:"health_score"`
	HealthStatus  string     `json:"loop_health_status"`
	WorstDecision string     `json:"worst_decision"`
}

type warning struct {
	ID        string    `json:"warning_id"`
	RunID     string    `json:"run_id"`
	EventID   *string   `json:"event_id"`
	Type      string    `json:"type"`
	Severity  string    `json:"severity"`
	Message   string    `json:"message"`
	Why       string    `json:"why"`
	Try       string    `json:"try"`
	Subject   string    `json:"subject"`
	Tool      *string   `json:"tool"`
	Count     *int      `json:"count"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

type decision struct {
	Action  string `json:"action"`
	Code    string `json:"code"`
	EventID string `json:"event_id"`
}

// message returns the body of a message.
func (w *worker) message(n *notice, level string) ([]byte, error) {
	m := w.describe(n, level)
	var content any = m
	if w.endpoint.Format == FormatSlack {
		content = slackOf(m)
	}
	body, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("write a message: %w", err)
	}
	return body, nil
}

func (w *worker) describe(n *notice, level string) *message {
	r, found := &n.run, &n.warning
	// Of the details, the calls that repeat, what changed between them and the first error quote the run. They stay here.
	var told struct{ Why, Try string }
	_ = json.Unmarshal(found.Details, &told) // without them the message says what happened all the same
	m := &message{
		ID: w.messageID(n, level), Type: "warning", Level: level, Version: w.options.Version,
		Run: run{
			ID: r.ID, Name: r.Name, Project: r.Project, Status: r.Status, URL: orNull(link(w.options.URL, r.ID)), StartedAt: orNull(r.Started),
			EndedAt: orNull(r.Ended), Cost: dollars(r.Metrics.Cost), Tokens: r.Metrics.Tokens, Events: r.Metrics.Events, Warnings: r.Warnings,
			HealthScore: r.Health.Score, HealthStatus: r.Health.Status, WorstDecision: r.WorstAction.String(),
		},
		Warning: warning{
			ID: found.ID, RunID: r.ID, EventID: orNull(found.EventID), Type: found.Rule, Severity: found.Severity, Message: found.Message,
			Why: told.Why, Try: told.Try, Subject: found.Subject, Tool: orNull(found.Tool), Count: orNull(found.Count),
			CreatedAt: found.Created, UpdatedAt: found.Updated,
		},
	}
	if d := n.decision; d != nil {
		m.Decision = &decision{d.Action.String(), d.Code, d.EventID}
	}
	return m
}

// messageID is the same however often the message is sent.
func (w *worker) messageID(n *notice, level string) string {
	if level == levelGrown {
		level = fmt.Sprint(n.stage().count)
	}
	sum := sha256.Sum256([]byte(w.key + "\x00" + n.warning.ID + "\x00" + level))
	return "msg_" + hex.EncodeToString(sum[:12])
}

// link returns the address of a run's page; "" without that of the server.
func link(base, run string) string {
	if base == "" {
		return ""
	}
	return strings.TrimRight(base, "/") + "/runs/" + store.PathOf(run)
}

// dollars rounds a cost to millionths; what JSON cannot say is 0.
func dollars(cost float64) float64 {
	if math.IsNaN(cost) || math.IsInf(cost, 0) {
		return 0
	}
	if math.Abs(cost) > 1e15 {
		return cost
	}
	return math.Round(cost*1e6) / 1e6
}

// orNull is nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
