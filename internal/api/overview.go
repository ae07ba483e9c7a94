package api

import (
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
	Usage       UsageTotals      `json:"usage" doc:"Usage of all runs."`
	After       UsageTotals      `json:"usage_after_warning" doc:"Usage of each run since its first warning. A guard would have saved at most this."`
	Guarded     int              `json:"guarded_runs" doc:"Number of runs with a guard that carries out decisions."`
	Avoided     UsageTotals      `json:"avoided" doc:"Estimate of what the stops by guards avoided. It assumes that each stopped loop would have gone on for as many events as it had lasted, at its run's own pace."`
	Wasted      UsageTotals      `json:"wasted" doc:"Usage of observed runs since the profile would first have stopped them."`
	Slowest     []SlowStep       `json:"slowest" doc:"The slowest event of each run, the slowest first."`
}

// OverviewBucket counts the runs that began in a stretch of time.
type OverviewBucket struct {
	Start     string `json:"start" format:"date-time" doc:"Start of the bucket."`
	Running   int    `json:"running" doc:"Number of running runs."`
	Completed int    `json:"completed" doc:"Number of completed runs."`
	Failed    int    `json:"failed" doc:"Number of failed runs."`
	Abandoned int    `json:"abandoned" doc:"Number of runs that did not end and had no events for the idle_close time."`
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

// OverviewOf returns an overview. Its lists are never nil.
func OverviewOf(f *store.Overview) Overview {
	out := Overview{
		Since: Timestamp(f.Since), Until: Timestamp(f.Until), StepSeconds: f.Step.Seconds(), Runs: f.Runs, Warned: f.Warned,
		Buckets: make([]OverviewBucket, 0, len(f.Buckets)), Tools: loopingOf(f.Tools), Rules: loopingOf(f.Rules), Usage: UsageOf(f.Usage),
		After: UsageOf(f.UsageAfterWarning), Guarded: f.Guarded, Avoided: UsageOf(f.Avoided), Wasted: UsageOf(f.Wasted), Slowest: make([]SlowStep, 0, len(f.Slowest)),
	}
	for _, b := range f.Buckets {
		out.Buckets = append(out.Buckets, OverviewBucket{Timestamp(b.Start), b.Running, b.Completed, b.Failed, b.Abandoned, b.Warned})
	}
	for _, step := range f.Slowest {
		out.Slowest = append(out.Slowest, SlowStep{step.RunID, step.EventID, store.Round(step.Latency, 3)})
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

// UsageOf returns usage; dollars are rounded to 6 decimal places.
func UsageOf(s store.Usage) UsageTotals {
	return UsageTotals{s.Calls, s.Tokens, store.Round(s.Cost, 6)}
}
