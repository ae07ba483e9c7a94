package httpd

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
	"github.com/unloop-ai/unloop/internal/store"
)

type (
	overviewQuery struct {
		RunFilter
		Step string `query:"step" doc:"Length of a bucket, such as 15m. Default: the shortest of 1m, 2m, 5m, 10m, 15m, 30m, 1h, 2h, 3h, 6h, 12h, 24h, 48h and multiples of 168h with at most 60 buckets."`
		By   string `query:"by" doc:"The key of groups: project, agent, model, or metadata.NAME for the values of a member of the runs' metadata. Default: no groups."`
	}
	overviewAnswer struct{ Body api.Overview }
)

func (s *Server) overviewRoutes() {
	op := s.operation(http.MethodGet, "/api/overview", Read, "runs", "overview", "Get totals over all runs",
		"Totals of the runs that meet all conditions: of the time range, of the range of equal length before, over time and by group. since is 24h before until by default, and until is now.")
	query(s, op, s.getOverview)
}

func (s *Server) getOverview(ctx context.Context, q *overviewQuery) (*overviewAnswer, error) {
	now := time.Now().UTC()
	filter, err := q.filter(now)
	if err != nil {
		return nil, err
	}
	step, err := timeRange(&filter, q.Step, now)
	if err != nil {
		return nil, err
	}
	if q.By != "" && !slices.Contains([]string{store.ByProjects, store.ByAgents, store.ByModels}, q.By) && !strings.HasPrefix(q.By, store.ByMetadata) {
		return nil, problem(http.StatusBadRequest, "by", "want project, agent, model or metadata.NAME")
	}
	f, err := s.Store.Overview(ctx, store.OverviewQuery{Filter: filter, Step: step, By: q.By})
	if err != nil {
		return nil, fmt.Errorf("summarize runs: %w", err)
	}
	return &overviewAnswer{api.OverviewOf(&f)}, nil
}

// timeRange sets the default ends of the filter's time range, and returns the step.
func timeRange(f *store.Filter, text string, now time.Time) (step time.Duration, err error) {
	if f.Until.IsZero() {
		f.Until = now
	}
	if f.Since.IsZero() {
		f.Since = f.Until.Add(-24 * time.Hour)
	}
	if !f.Since.Before(f.Until) {
		return 0, problem(http.StatusBadRequest, "since", "must be before until")
	}
	span := f.Until.Sub(f.Since)
	if !f.Since.Add(span).Equal(f.Until) {
		return 0, problem(http.StatusBadRequest, "since", "must be less than 292 years before until")
	}
	if text == "" {
		return defaultStep(span), nil
	}
	if step, err = time.ParseDuration(text); err != nil || step <= 0 {
		return 0, problem(http.StatusBadRequest, "step", "want a duration above 0, such as 15m")
	}
	return step, nil
}

// defaultStep returns a step that people read easily, with at most 60 buckets in the range.
func defaultStep(span time.Duration) time.Duration {
	for _, step := range []time.Duration{1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880} {
		if step *= time.Minute; span <= 60*step {
			return step
		}
	}
	const week = 7 * 24 * time.Hour
	return week * ((span-1)/(60*week) + 1) // adding to a span of centuries would overflow
}
