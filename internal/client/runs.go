package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Health is what a server says of itself.
type Health struct {
	Status  string `json:"status"`
	Service string `json:"service"`
	Version string `json:"version"`
	GRPC    string `json:"grpc"` // on, off or taken; "" where the server does not tell

	Clock time.Time     `json:"-"` // the server's, to the second; zero where it does not tell
	Took  time.Duration `json:"-"` // from the question to the answer
}

// Health asks whether the server works.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	asked := time.Now()
	answer, err := c.call(ctx, http.MethodGet, "/api/health", nil, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // only read
	h := &Health{Took: time.Since(asked)}
	h.Clock, _ = http.ParseTime(answer.Header.Get("Date")) // zero where there is none
	return h, read(answer, h)
}

// Run is a run as a server tells it.
type Run struct {
	ID       string  `json:"id"`
	Name     string  `json:"name"`
	Project  string  `json:"project"`
	Status   string  `json:"status"`
	Events   int     `json:"event_count"`
	Warnings int     `json:"warning_count"`
	Score    int     `json:"health_score"`
	Health   string  `json:"loop_health_status"`
	Worst    string  `json:"worst_decision"`
	Tokens   int64   `json:"total_tokens"`
	Cost     float64 `json:"total_cost"` // US dollars
}

// Run asks for a run.
func (c *Client) Run(ctx context.Context, id string) (*Run, error) {
	var r Run
	return &r, c.get(ctx, RunPath(id, ""), &r)
}

// Delete has the server forget a run.
func (c *Client) Delete(ctx context.Context, id string) error {
	answer, err := c.call(ctx, http.MethodDelete, RunPath(id, ""), nil, nil)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Warning is a warning as a server tells it.
type Warning struct {
	ID       string          `json:"warning_id"`
	RunID    string          `json:"run_id"`
	EventID  string          `json:"event_id"`
	Type     string          `json:"type"`
	Severity string          `json:"severity"`
	Message  string          `json:"message"`
	Details  json.RawMessage `json:"details"`
}

// Warnings asks for all warnings of a run, the first raised first.
func (c *Client) Warnings(ctx context.Context, run string) ([]Warning, error) {
	var all []Warning
	return all, c.get(ctx, RunPath(run, "/warnings"), &all)
}
