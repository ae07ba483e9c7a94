package api

import (
	"cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

// Overview is a summary of many runs.
type Overview struct {
	Since       string  `json:"since" format:"date-time" doc:"Start of the time range."`
	Until       string  `json:"until" format:"date-time" doc:"End of the time range."`
	StepSeconds float64 `json:"step_sec" doc:"Length of a bucket in seconds."`
	OverviewTotals
	Previous OverviewTotals   `json:"previous" doc:"The totals of the time range of equal length before."`
	Buckets  []OverviewBucket `json:"buckets" doc:"Runs over time, without gaps between buckets."`
	Groups   []OverviewGroup  `json:"groups" doc:"The totals by project, agent, model or metadata, the most runs first; 50 groups at most. A run with several agents or models counts in each of their groups. Empty without the parameter by."`
	Metadata []OverviewMember `json:"metadata" doc:"The members of the runs' metadata by which runs can be grouped, with some of their values."`
	Tools    []Looping        `json:"looping_tools" doc:"Tools by number of warnings, the most first."`
	Rules    []Looping        `json:"rules" doc:"Rules by number of warnings, the most first."`
	Slowest  []SlowStep       `json:"slowest" doc:"The slowest event of each run, the slowest first."`
}

// OverviewTotals are the totals of many runs.
type OverviewTotals struct {
	Runs           int         `json:"runs" doc:"Number of runs."`
	Warned         int         `json:"warned_runs" doc:"Number of runs with a warning."`
	Looping        int         `json:"looping_runs" doc:"Number of runs with a decision to warn, block or halt."`
	Usage          UsageTotals `json:"usage" doc:"Usage of all runs."`
	After          UsageTotals `json:"usage_after_warning" doc:"Usage of each run since its first warning. A guard would have saved at most this."`
	Guarded        int         `json:"guarded_runs" doc:"Number of runs with a guard that carries out decisions."`
	Avoided        UsageTotals `json:"avoided" doc:"Estimate of what the stops by guards avoided. It assumes that each stopped loop would have continued for as many events as it had lasted, at the rate of its run."`
	Wasted         UsageTotals `json:"wasted" doc:"Usage of observed runs since the profile would first have stopped them."`
	MedianDuration float64     `json:"median_duration_sec" doc:"Median duration of a run in seconds."`
	LongDuration   float64     `json:"p95_duration_sec" doc:"95 % of the runs are not longer, in seconds."`
	Latency        float64     `json:"average_latency_ms" doc:"Mean of the runs' mean latencies in milliseconds; 0 if none is known."`
}

// OverviewGroup are the totals of the runs that have something in common.
type OverviewGroup struct {
	Name string `json:"name" doc:"The project, agent, model or value; empty for runs without one."`
	OverviewTotals
}

// OverviewMember is a member of the runs' metadata.
type OverviewMember struct {
	Name   string   `json:"name" doc:"Name of the member."`
	Values []string `json:"values" doc:"Values of the member, sorted; 50 at most."`
}

// OverviewBucket summarizes the runs that began in a stretch of time.
type OverviewBucket struct {
	Start     string `json:"start" format:"date-time" doc:"Start of the bucket."`
	Running   int    `json:"running" doc:"Number of running runs."`
	Completed int    `json:"completed" doc:"Number of completed runs."`
	Failed    int    `json:"failed" doc:"Number of failed runs."`
	Abandoned int    `json:"abandoned" doc:"Number of runs that did not end and had no events for the idle_close time."`
	OverviewTotals
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
	RunName string  `json:"run_name" doc:"The run's name."`
	EventID string  `json:"event_id" doc:"The event's id; empty if unknown."`
	Step    string  `json:"step" doc:"The tool or model that the event calls, else its type; empty if unknown."`
	Latency float64 `json:"latency_ms" doc:"Latency in milliseconds."`
}

// OverviewOf returns an overview. Its lists are never nil.
func OverviewOf(f *store.Overview) Overview {
	out := Overview{
		Since: Timestamp(f.Since), Until: Timestamp(f.Until), StepSeconds: f.Step.Seconds(), OverviewTotals: overviewTotals(&f.Totals),
		Previous: overviewTotals(&f.Previous), Buckets: make([]OverviewBucket, 0, len(f.Buckets)), Groups: make([]OverviewGroup, 0, len(f.Groups)),
		Metadata: make([]OverviewMember, 0, len(f.Metadata)), Tools: loopingOf(f.Tools), Rules: loopingOf(f.Rules), Slowest: make([]SlowStep, 0, len(f.Slowest)),
	}
	for k := range f.Buckets {
		b := &f.Buckets[k]
		out.Buckets = append(out.Buckets, OverviewBucket{Timestamp(b.Start), b.Running, b.Completed, b.Failed, b.Abandoned, overviewTotals(&b.Totals)})
	}
	for k := range f.Groups {
		out.Groups = append(out.Groups, OverviewGroup{f.Groups[k].Name, overviewTotals(&f.Groups[k].Totals)})
	}
	for _, m := range f.Metadata {
		out.Metadata = append(out.Metadata, OverviewMember(m))
	}
	for _, step := range f.Slowest {
		out.Slowest = append(out.Slowest, SlowStep{step.RunID, cmp.Or(step.Run, step.RunID), step.EventID, step.Step, store.Round(step.Latency, 3)})
	}
	return out
}

// overviewTotals rounds seconds and milliseconds to 3 decimal places.
func overviewTotals(t *store.Totals) OverviewTotals {
	return OverviewTotals{
		Runs: t.Runs, Warned: t.Warned, Looping: t.Looping, Usage: UsageOf(t.Usage), After: UsageOf(t.UsageAfterWarning),
		Guarded: t.Guarded, Avoided: UsageOf(t.Avoided), Wasted: UsageOf(t.Wasted),
		MedianDuration: store.Round(t.MedianDuration, 3), LongDuration: store.Round(t.LongDuration, 3), Latency: store.Round(t.Latency, 3),
	}
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
