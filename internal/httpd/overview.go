package httpd

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Overview sums up many runs.
type Overview struct {
	Since       string           `json:"since" format:"date-time" doc:"Start of the time range. Runs count by their start time."`
	Until       string           `json:"until" format:"date-time" doc:"End of the time range, exclusive."`
	StepSeconds float64          `json:"step_sec" doc:"Length of a bucket in seconds."`
	Runs        int              `json:"runs" doc:"Number of runs."`
	Warned      int              `json:"warned_runs" doc:"Number of runs with a warning."`
	Buckets     []OverviewBucket `json:"buckets" doc:"Runs over time, without gaps between buckets."`
	Tools       []Looping        `json:"looping_tools" doc:"Tools by number of warnings, the most first."`
	Rules       []Looping        `json:"rules" doc:"Rules by number of warnings, the most first."`
	Spent       UsageTotals      `json:"spent" doc:"Usage of all runs."`
	After       UsageTotals      `json:"spent_after_warning" doc:"Usage of each run since its first warning. A guard would have saved at most this."`
	Slowest     []SlowStep       `json:"slowest" doc:"The slowest event of each run, the slowest first."`
}

// OverviewBucket counts the runs that began in a stretch of time.
type OverviewBucket struct {
	Start     string `json:"start" format:"date-time" doc:"Start of the bucket."`
	Running   int    `json:"running" doc:"Number of running runs."`
	Completed int    `json:"completed" doc:"Number of completed runs."`
	Failed    int    `json:"failed" doc:"Number of failed runs."`
	Closed    int    `json:"closed" doc:"Number of runs that the server closed because they had no events."`
	Warned    int    `json:"warned" doc:"Number of runs with a warning, of any status."`
}

// Looping is a tool or a rule with the warnings about it.
type Looping struct {
	Name     string `json:"name" doc:"Name of the tool or rule."`
	Runs     int    `json:"runs" doc:"Number of runs with such a warning."`
	Warnings int    `json:"warnings" doc:"Number of such warnings."`
	Repeats  int    `json:"repeats" doc:"Sum of the warnings' counts."`
}

// UsageTotals is what runs took.
type UsageTotals struct {
	Calls  int     `json:"calls" doc:"Number of tool calls."`
	Tokens int64   `json:"tokens" doc:"Tokens of model calls."`
	Cost   float64 `json:"cost" doc:"Known cost in US dollars."`
}

// SlowStep is the slowest event of a run.
type SlowStep struct {
	RunID   string  `json:"run_id" doc:"The run's id."`
	EventID string  `json:"event_id" doc:"The event's id; empty if unknown."`
	Latency float64 `json:"latency_ms" doc:"Latency in milliseconds."`
}

type (
	overviewQuery struct {
		Since string `query:"since" doc:"Start of the time range: RFC 3339, or a duration before now. Default: 24h before until."`
		Until string `query:"until" doc:"End of the time range: RFC 3339, or a duration before now. Default: now."`
		Step  string `query:"step" doc:"Length of a bucket, such as 15m. Default: 1/48 of the time range."`
	}
	overviewAnswer struct{ Body Overview }
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
		return nil, fmt.Errorf("sum up runs: %w", err)
	}
	return &overviewAnswer{overviewOf(&f)}, nil
}

// timeRange reads since, until and step.
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

func overviewOf(f *store.Overview) Overview {
	out := Overview{
		Since: timestamp(f.Since), Until: timestamp(f.Until), StepSeconds: f.Step.Seconds(), Runs: f.Runs, Warned: f.Warned,
		Buckets: make([]OverviewBucket, 0, len(f.Buckets)), Tools: loopingOf(f.Tools), Rules: loopingOf(f.Rules), Spent: usageOf(f.Usage),
		After: usageOf(f.UsageAfterWarning), Slowest: make([]SlowStep, 0, len(f.Slowest)),
	}
	for _, b := range f.Buckets {
		out.Buckets = append(out.Buckets, OverviewBucket{timestamp(b.Start), b.Running, b.Completed, b.Failed, b.Closed, b.Warned})
	}
	for _, step := range f.Slowest {
		out.Slowest = append(out.Slowest, SlowStep{step.RunID, step.EventID, round(step.Latency, 3)})
	}
	return out
}

func loopingOf(list []store.Looping) []Looping {
	all := make([]Looping, 0, len(list))
	for _, l := range list {
		all = append(all, Looping(l))
	}
	return all
}

func usageOf(s store.Usage) UsageTotals { return UsageTotals{s.Calls, s.Tokens, round(s.Cost, 6)} }
