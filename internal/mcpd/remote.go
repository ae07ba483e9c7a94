package mcpd

import (
	"context"
	"errors"
	"net/http"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/client"
)

// Remote is a source that reads from a server over HTTP.
type Remote struct{ Client *client.Client }

// Runs returns the runs that started last.
func (r Remote) Runs(ctx context.Context, limit int) ([]api.RunSummary, error) {
	return r.Client.Runs(ctx, limit)
}

// Run returns a run.
func (r Remote) Run(ctx context.Context, id string) (*api.RunSummary, error) {
	return ofRun(id, func() (*api.RunSummary, error) { return r.Client.Run(ctx, id) })
}

// Metrics returns the totals of a run.
func (r Remote) Metrics(ctx context.Context, id string) (*api.Metrics, error) {
	return ofRun(id, func() (*api.Metrics, error) { return r.Client.Metrics(ctx, id) })
}

// Warnings returns the warnings of a run.
func (r Remote) Warnings(ctx context.Context, id string) ([]api.Warning, error) {
	return ofRun(id, func() ([]api.Warning, error) { return r.Client.Warnings(ctx, id) })
}

// Events returns the last events of a run.
func (r Remote) Events(ctx context.Context, id string, limit int) ([]api.Event, error) {
	return ofRun(id, func() ([]api.Event, error) { return r.Client.LastEvents(ctx, id, limit) })
}

// ofRun returns what get reads of the run with the id, or ErrNoRun if the server does not know the run.
func ofRun[T any](id string, get func() (T, error)) (T, error) {
	var none T
	if id == "" { // its path would be that of another resource
		return none, ErrNoRun
	}
	found, err := get()
	var answer *client.Error
	if errors.As(err, &answer) && answer.Status == http.StatusNotFound {
		return none, ErrNoRun
	}
	return found, err
}
