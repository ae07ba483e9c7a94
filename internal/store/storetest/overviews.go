package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

// avoided and wasted are the usage after the stops of a guarded and of an observed run of summedRuns.
var avoided, wasted = store.Usage{Calls: 3, Tokens: 400, Cost: 0.125}, store.Usage{Calls: 1, Tokens: 200, Cost: 0.5}

// summedRuns returns six runs. All but the first and the last are in the period that begins at noon.
func summedRuns() (b store.Batch) {
	for k, c := range []struct {
		at      time.Duration
		status  string
		latency float64
		warned  bool
	}{
		{-1, store.Failed, 9e9, true}, // before it
		{0, store.Running, 10, false},
		{59 * time.Minute, store.Completed, 30, true},
		{time.Hour, store.Failed, 0, true},
		{2*time.Hour + 1, store.Abandoned, 20, false},
		{150 * time.Minute, store.Completed, 9e9, true}, // behind it
	} {
		r := run(int64(k+1), fmt.Sprint(k))
		r.Started, r.Status, r.Metrics.MaxLatency, r.SlowestEvent = noon.Add(c.at), c.status, c.latency, fmt.Sprint("e", k)
		r.Metrics.ToolCalls, r.Metrics.Tokens, r.Metrics.Cost = 10, 1000, 0.5
		if c.latency < 100 { // those of the period
			r.Metrics.Duration, r.Metrics.MeanLatency = float64(10*k), float64(10*k)
		}
		if c.warned {
			r.WorstAction = policy.Warn
			r.FirstWarningAt, r.UsageAfterWarning = noon, store.Usage{Calls: 2, Tokens: 300, Cost: 0.25}
			b.Warnings = append(b.Warnings,
				store.Warning{Run: r.Number, ID: "1", Rule: "repeat", Tool: "grep", Count: 3 + k},
				store.Warning{Run: r.Number, ID: "2", Rule: "repeat", Tool: "read", Count: 10 * k},
				store.Warning{Run: r.Number, ID: "3", Rule: "stall", Count: 1})
		}
		switch k {
		case 2:
			r.Guard.By, r.UsageAfterStop = "Go", avoided
		case 4:
			r.UsageAfterStop = wasted
		}
		b.Runs = append(b.Runs, r)
	}
	return b
}

func overview(t *testing.T, s Store) {
	b := summedRuns()
	b.Events = []store.Event{
		{Arrival: 1, Run: 3, ID: "e2", Body: []byte(`{"type":"tool_call_completed","tool":"grep"}`)},
		{Arrival: 2, Run: 5, ID: "e4", Body: []byte(`{"type":"llm_call_completed","model":"m-1"}`)},
	}
	commit(t, s, b)
	until := noon.Add(150 * time.Minute)
	one := store.Usage{Calls: 10, Tokens: 1000, Cost: 0.5}
	two := store.Usage{Calls: 20, Tokens: 2000, Cost: 1}
	after := store.Usage{Calls: 2, Tokens: 300, Cost: 0.25}
	want := store.Overview{
		Since: noon, Until: until, Step: time.Hour,
		Totals: store.Totals{
			Runs: 4, Warned: 2, Looping: 2, Usage: store.Usage{Calls: 40, Tokens: 4000, Cost: 2}, UsageAfterWarning: store.Usage{Calls: 4, Tokens: 600, Cost: 0.5},
			Guarded: 1, Avoided: avoided, Wasted: wasted, MedianDuration: 30, LongDuration: 40, Latency: 25,
		},
		Previous: store.Totals{Runs: 1, Warned: 1, Looping: 1, Usage: one, UsageAfterWarning: after},
		Buckets: []store.OverviewBucket{
			{Start: noon, Running: 1, Completed: 1, Totals: store.Totals{
				Runs: 2, Warned: 1, Looping: 1, Usage: two, UsageAfterWarning: after, Guarded: 1, Avoided: avoided, MedianDuration: 20, LongDuration: 20, Latency: 15,
			}},
			{Start: noon.Add(time.Hour), Failed: 1, Totals: store.Totals{
				Runs: 1, Warned: 1, Looping: 1, Usage: one, UsageAfterWarning: after, MedianDuration: 30, LongDuration: 30, Latency: 30,
			}},
			{Start: noon.Add(2 * time.Hour), Abandoned: 1, Totals: store.Totals{Runs: 1, Usage: one, Wasted: wasted, MedianDuration: 40, LongDuration: 40, Latency: 40}},
		},
		Tools: []store.Looping{{Name: "read", Runs: 2, Warnings: 2, Repeats: 50}, {Name: "grep", Runs: 2, Warnings: 2, Repeats: 11}},
		Rules: []store.Looping{{Name: "repeat", Runs: 2, Warnings: 4, Repeats: 61}, {Name: "stall", Runs: 2, Warnings: 2, Repeats: 2}},
		Slowest: []store.SlowStep{
			{RunID: "2", Run: "fix the tests", EventID: "e2", Step: "grep", Latency: 30},
			{RunID: "4", Run: "fix the tests", EventID: "e4", Step: "m-1", Latency: 20},
			{RunID: "1", Run: "fix the tests", EventID: "e1", Latency: 10},
		},
	}
	got := must[store.Overview](t)(s.Overview(t.Context(), period(noon, until, time.Hour)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
}

// period asks for all runs of a time.
func period(since, until time.Time, step time.Duration) store.OverviewQuery {
	return store.OverviewQuery{Filter: store.Filter{Since: since, Until: until}, Step: step}
}

func overviewGroups(t *testing.T, s Store) {
	var b store.Batch
	for k := range int64(60) {
		r := run(k+1, fmt.Sprint(k))
		r.Started = noon.Add(time.Duration(k-20) * time.Minute) // 20 runs are in the hour before
		r.Project = []string{"a", "b", ""}[k%3]
		if k%2 == 0 {
			r.Agents, r.Models = []string{"coder", "reviewer"}, []string{"m-1"}
		}
		if k >= 30 {
			r.Metadata = []byte(`{"prompt":"v2","try":` + fmt.Sprint(k%2) + `}`)
		}
		r.Metrics.ToolCalls = 1
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	for _, c := range []struct {
		by   string
		want map[string]int
	}{
		{"", map[string]int{}},
		{store.ByProjects, map[string]int{"a": 13, "b": 13, "": 14}},
		{store.ByAgents, map[string]int{"coder": 20, "reviewer": 20, "": 20}},
		{store.ByModels, map[string]int{"m-1": 20, "": 20}},
		{store.ByMetadata + "prompt", map[string]int{"v2": 30, "": 10}},
		{store.ByMetadata + "try", map[string]int{"0": 15, "1": 15, "": 10}},
		{store.ByMetadata + "unknown", map[string]int{"": 40}},
	} {
		q := period(noon, noon.Add(time.Hour), time.Hour)
		q.By = c.by
		f := must[store.Overview](t)(s.Overview(t.Context(), q))
		got := map[string]int{}
		for k, g := range f.Groups {
			got[g.Name] = g.Totals.Runs
			if g.Totals.Usage.Calls != g.Totals.Runs || k > 0 && g.Totals.Runs > f.Groups[k-1].Totals.Runs {
				t.Errorf("by %s: group %d is %+v", c.by, k, g)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", c.by, diff)
		}
		if f.Totals.Runs != 40 || f.Previous.Runs != 20 {
			t.Errorf("by %s: %d runs, %d before", c.by, f.Totals.Runs, f.Previous.Runs)
		}
		if diff := cmp.Diff([]store.Metadata{{Name: "prompt", Values: []string{"v2"}}, {Name: "try", Values: []string{"0", "1"}}}, f.Metadata); diff != "" {
			t.Errorf("by %s: metadata (-want +got):\n%s", c.by, diff)
		}
	}
}

func overviewFilter(t *testing.T, s Store) {
	a, b, c := run(1, "a"), run(2, "b"), run(3, "c")
	a.Project, a.Metrics.MaxLatency, a.SlowestEvent, a.FirstWarningAt = "shop", 5, "e", noon
	b.Metrics.MaxLatency, b.FirstWarningAt = 9, noon
	c.Project, c.Started = "shop", noon.Add(-time.Minute)
	commit(t, s, store.Batch{Runs: []store.Run{a, b, c}, Warnings: []store.Warning{
		{Run: 1, ID: "1", Rule: "stall", Tool: "grep"}, {Run: 2, ID: "2", Rule: "repeat", Tool: "read"},
	}})
	q := period(noon, noon.Add(time.Hour), time.Hour)
	q.Project = "shop"
	f := must[store.Overview](t)(s.Overview(t.Context(), q))
	if f.Totals.Runs != 1 || f.Previous.Runs != 1 || len(f.Slowest) != 1 || f.Slowest[0].RunID != "a" {
		t.Errorf("%+v, before %+v, slowest %+v", f.Totals, f.Previous, f.Slowest)
	}
	if diff := cmp.Diff([]store.Looping{{Name: "stall", Runs: 1, Warnings: 1}}, f.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.Looping{{Name: "grep", Runs: 1, Warnings: 1}}, f.Tools); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}
