package client

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

// Health is the health of a server.
type Health struct {
	api.Health

	Clock time.Time     `json:"-"` // the server's time, to the second; zero if unknown
	Asked time.Time     `json:"-"` // when the request was sent
	Took  time.Duration `json:"-"` // from the request to the answer
}

// Health returns the health of the server.
func (c *Client) Health(ctx context.Context) (*Health, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	askedAt := time.Now()
	answer, err := c.call(ctx, http.MethodGet, "/api/health", nil, nil)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() // only read
	h := &Health{Asked: askedAt, Took: time.Since(askedAt)}
	h.Clock, _ = http.ParseTime(answer.Header.Get("Date")) // zero without a date
	return h, read(answer, h)
}

// Runs returns the runs that started last, the latest first.
func (c *Client) Runs(ctx context.Context, limit int) (all []api.RunSummary, err error) {
	err = c.get(ctx, "/api/runs?limit="+strconv.Itoa(limit), &all)
	return all, err
}

// Run returns a run.
func (c *Client) Run(ctx context.Context, id string) (*api.RunSummary, error) {
	var r api.RunSummary
	return &r, c.get(ctx, RunPath(id, ""), &r)
}

// Metrics returns the totals of a run.
func (c *Client) Metrics(ctx context.Context, id string) (*api.Metrics, error) {
	var m api.Metrics
	return &m, c.get(ctx, RunPath(id, "/metrics"), &m)
}

// EndRun reports to the server that all events of a run were sent.
func (c *Client) EndRun(ctx context.Context, id string) error {
	answer, err := c.call(ctx, http.MethodPost, "/api/runs", jsonBody(), bytes.NewReader(api.Encode(api.NewRun{ID: id, Ended: true})))
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Delete deletes a run.
func (c *Client) Delete(ctx context.Context, id string) error {
	answer, err := c.call(ctx, http.MethodDelete, RunPath(id, ""), nil, nil)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Labels returns the labels of runs, the latest first.
func (c *Client) Labels(ctx context.Context) (all []api.Label, err error) {
	err = c.get(ctx, "/api/labels", &all)
	return all, err
}

// Warnings returns all warnings of a run, the first raised first.
func (c *Client) Warnings(ctx context.Context, run string) (all []api.Warning, err error) {
	err = c.get(ctx, RunPath(run, "/warnings"), &all)
	return all, err
}

// Decisions returns the first 1,000 decisions of a run, in the order of the run.
func (c *Client) Decisions(ctx context.Context, run string) (all []api.Decision, err error) {
	err = c.get(ctx, RunPath(run, "/decisions?limit=1000"), &all)
	return all, err
}
