package httpd

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/unloop-ai/unloop/internal/api"
)

type (
	overviewQuery struct {
		Since string `query:"since" doc:"Start of the time range: RFC 3339, or a duration before now. Default: 24h before until."`
		Until string `query:"until" doc:"End of the time range: RFC 3339, or a duration before now. Default: now."`
		Step  string `query:"step" doc:"Length of a bucket, such as 15m. Default: 1/48 of the time range."`
	}
	overviewAnswer struct{ Body api.Overview }
)

func (s *Server) overviewRoutes() {
	op := s.operation(http.MethodGet, "/api/overview", Read, "runs", "overview", "Get totals over all runs",
		"Runs by status over time, the tools and rules with the most warnings, and the usage after the first warning.")
	query(s, op, s.getOverview)
}

func (s *Server) getOverview(ctx context.Context, q *overviewQuery) (*overviewAnswer, error) {
	now := time.Now().UTC()
	since, until, step, err := timeRange(q, now)
	if err != nil {
		return nil, err
	}
	f, err := s.Store.Overview(ctx, since, until, step)
	if err != nil {
		return nil, fmt.Errorf("summarize runs: %w", err)
	}
	return &overviewAnswer{api.OverviewOf(&f)}, nil
}

// timeRange parses since, until and step.
func timeRange(q *overviewQuery, now time.Time) (since, until time.Time, step time.Duration, err error) {
	if since, err = moment("since", q.Since, now); err != nil {
		return
	}
	if until, err = moment("until", q.Until, now); err != nil {
		return
	}
	if until.IsZero() {
		until = now
	}
	if since.IsZero() {
		since = until.Add(-24 * time.Hour)
	}
	if !since.Before(until) {
		return since, until, 0, problem(http.StatusBadRequest, "since", "must be before until")
	}
	if q.Step == "" {
		return since, until, max((until.Sub(since) / 48).Round(time.Second), time.Second), nil
	}
	if step, err = time.ParseDuration(q.Step); err != nil || step <= 0 {
		return since, until, 0, problem(http.StatusBadRequest, "step", "want a duration above 0, such as 15m")
	}
	return since, until, step, nil
}
