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
	Since       string           `json:"since" format:"date-time" doc:"From when on runs were counted, by their start."`
	Until       string           `json:"until" format:"date-time" doc:"Until when."`
	StepSeconds float64          `json:"step_sec" doc:"How long a bucket is."`
	Runs        int              `json:"runs" doc:"How many runs."`
	Warned      int              `json:"warned_runs" doc:"How many of them have a warning."`
	Buckets     []OverviewBucket `json:"buckets" doc:"The runs over time, without gaps."`
	Tools       []Looping        `json:"looping_tools" doc:"Tools by their warnings, the most first."`
	Rules       []Looping        `json:"rules" doc:"Rules by their warnings, the most first."`
	Spent       UsageTotals      `json:"spent" doc:"What all runs took."`
	After       UsageTotals      `json:"spent_after_warning" doc:"What they took since the first warning of each: what a guard would have saved at most."`
	Slowest     []SlowStep       `json:"slowest" doc:"The slowest events, the slowest first."`
}

// OverviewBucket counts the runs that began in a stretch of time.
type OverviewBucket struct {
	Start     string `json:"start" format:"date-time" doc:"When it begins."`
	Running   int    `json:"running" doc:"Runs that are running."`
	Completed int    `json:"completed" doc:"Runs that completed."`
	Failed    int    `json:"failed" doc:"Runs that failed."`
	Closed    int    `json:"closed" doc:"Runs that are taken to be over."`
	Warned    int    `json:"warned" doc:"Runs with a warning, of whatever status."`
}

// Looping is a tool or a rule with the warnings about it.
type Looping struct {
	Name     string `json:"name" doc:"Of the tool or the rule."`
	Runs     int    `json:"runs" doc:"Runs with such a warning."`
	Warnings int    `json:"warnings" doc:"Such warnings."`
	Repeats  int    `json:"repeats" doc:"Their counts, in sum."`
}

// UsageTotals is what runs took.
type UsageTotals struct {
	Calls  int     `json:"calls" doc:"Tool calls."`
	Tokens int64   `json:"tokens" doc:"Of model calls."`
	Cost   float64 `json:"cost" doc:"US dollars, as far as they are known."`
}

// SlowStep is the slowest event of a run.
type SlowStep struct {
	RunID   string  `json:"run_id" doc:"Of the run."`
	EventID string  `json:"event_id" doc:"Of the event; empty where it is not known."`
	Latency float64 `json:"latency_ms" doc:"Milliseconds."`
}

type (
	overviewQuery struct {
		Since string `query:"since" doc:"RFC 3339, or how long ago; 24h where it is left out."`
		Until string `query:"until" doc:"RFC 3339, or how long ago; now where it is left out."`
		Step  string `query:"step" doc:"How long a bucket is, such as 15m; a 48th of the time where it is left out."`
	}
	overviewAnswer struct{ Body Overview }
)

func (s *Server) overviewRoutes() {
	op := s.operation(http.MethodGet, "/api/overview", Read, "runs", "overview", "All runs summed up",
		"Runs by status over time, the most looping tools, and what was spent after the first warning.")
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
		return since, until, 0, problem(http.StatusBadRequest, "since", "it is not before until")
	}
	if q.Step == "" {
		return since, until, max((until.Sub(since) / 48).Round(time.Second), time.Second), nil
	}
	if step, err = time.ParseDuration(q.Step); err != nil || step <= 0 {
		return since, until, 0, problem(http.StatusBadRequest, "step", "how long is wanted, such as 15m")
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
