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
		Step string `query:"step" doc:"Length of a bucket, such as 15m. Default: 1/48 of the time range."`
		By   string `query:"by" doc:"What groups has: project, agent, model, or metadata.NAME for the values of a member of the runs' metadata. Default: no groups."`
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
	if text == "" {
		return max((f.Until.Sub(f.Since) / 48).Round(time.Second), time.Second), nil
	}
	if step, err = time.ParseDuration(text); err != nil || step <= 0 {
		return 0, problem(http.StatusBadRequest, "step", "want a duration above 0, such as 15m")
	}
	return step, nil
}
