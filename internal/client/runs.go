package client

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

// Health is what a server says of itself.
type Health struct {
	api.Health

	Clock time.Time     `json:"-"` // the server's time, to the second; zero if unknown
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
	h.Clock, _ = http.ParseTime(answer.Header.Get("Date")) // zero without a date
	return h, read(answer, h)
}

// Run asks for a run.
func (c *Client) Run(ctx context.Context, id string) (*api.RunSummary, error) {
	var r api.RunSummary
	return &r, c.get(ctx, RunPath(id, ""), &r)
}

// EndRun reports to the server that all events of a run were sent.
func (c *Client) EndRun(ctx context.Context, id string) error {
	header := http.Header{"Content-Type": {"application/json"}}
	answer, err := c.call(ctx, http.MethodPost, "/api/runs", header, bytes.NewReader(api.Encode(api.NewRun{ID: id, Ended: true})))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Delete has the server forget a run.
func (c *Client) Delete(ctx context.Context, id string) error {
	answer, err := c.call(ctx, http.MethodDelete, RunPath(id, ""), nil, nil)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Labels asks for the labels that people gave to runs, the latest first.
func (c *Client) Labels(ctx context.Context) ([]api.Label, error) {
	var all []api.Label
	return all, c.get(ctx, "/api/labels", &all)
}

// Warnings asks for all warnings of a run, the first raised first.
func (c *Client) Warnings(ctx context.Context, run string) ([]api.Warning, error) {
	var all []api.Warning
	return all, c.get(ctx, RunPath(run, "/warnings"), &all)
}
