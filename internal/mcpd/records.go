package mcpd

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

// Store is the part of a store that Records reads.
type Store interface {
	Runs(ctx context.Context, f store.Filter, o store.Order, p store.Page) (runs []store.Run, next string, err error)
	Run(ctx context.Context, id string) (*store.Run, error)
	Warnings(ctx context.Context, run int64) ([]store.Warning, error)
	EventPage(ctx context.Context, run int64, p store.Page) (events []store.Event, next string, err error)
}

// Records is a source that reads from a store.
type Records struct{ Store Store }

// Runs returns the runs that started last.
func (r Records) Runs(ctx context.Context, limit int) ([]api.RunSummary, error) {
	runs, _, err := r.Store.Runs(ctx, store.Filter{}, store.Order{}, store.Page{Limit: limit})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	all := make([]api.RunSummary, 0, len(runs))
	for i := range runs {
		all = append(all, api.SummaryOf(&runs[i]))
	}
	return all, nil
}

// run returns the record of the run with the id, or ErrNoRun.
func (r Records) run(ctx context.Context, id string) (*store.Run, error) {
	run, err := r.Store.Run(ctx, store.Text(id))
	if err != nil {
		return nil, fmt.Errorf("read the run: %w", err)
	}
	if run == nil {
		return nil, ErrNoRun
	}
	return run, nil
}

// Run returns a run.
func (r Records) Run(ctx context.Context, id string) (*api.RunSummary, error) {
	run, err := r.run(ctx, id)
	if err != nil {
		return nil, err
	}
	summary := api.SummaryOf(run)
	return &summary, nil
}

// Metrics returns the totals of a run.
func (r Records) Metrics(ctx context.Context, id string) (*api.Metrics, error) {
	run, err := r.run(ctx, id)
	if err != nil {
		return nil, err
	}
	m := api.MetricsOf(run)
	return &m, nil
}

// Warnings returns the warnings of a run.
func (r Records) Warnings(ctx context.Context, id string) ([]api.Warning, error) {
	run, err := r.run(ctx, id)
	if err != nil {
		return nil, err
	}
	warnings, err := r.Store.Warnings(ctx, run.Number)
	if err != nil {
		return nil, fmt.Errorf("list warnings: %w", err)
	}
	return api.WarningsOf(run.ID, warnings), nil
}

// Events returns the last events of a run. It reads pages from the end, and keeps one page and the returned events.
func (r Records) Events(ctx context.Context, id string, limit int) ([]api.Event, error) {
	run, err := r.run(ctx, id)
	if err != nil {
		return nil, err
	}
	var last []api.Event // in reverse order
	for cursor := ""; ; {
		events, next, err := r.Store.EventPage(ctx, run.Number, store.Page{Cursor: cursor, Limit: limit - len(last), Backward: true})
		if err != nil {
			return nil, fmt.Errorf("list events: %w", err)
		}
		for i := range events {
			e, err := decode(run.ID, &events[i])
			if err != nil {
				return nil, err
			}
			last = append(last, e)
		}
		if next == "" || len(last) >= limit {
			slices.Reverse(last)
			return last, nil
		}
		cursor = next
	}
}

// decode returns an event as the API sends it.
func decode(run string, stored *store.Event) (e api.Event, err error) {
	if err := json.Unmarshal(api.AppendEvent(nil, run, stored), &e); err != nil {
		return e, fmt.Errorf("read event %s: %w", stored.ID, err)
	}
	return e, nil
}
