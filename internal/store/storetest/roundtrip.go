package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func empty(t *testing.T, s Store) {
	ctx := t.Context()
	arrival, number, err := s.Last(ctx)
	if err != nil || arrival != 0 || number != 0 {
		t.Errorf("the last are %d and %d, error %v", arrival, number, err)
	}
	if r := must[*store.Run](t)(s.Run(ctx, "r")); r != nil {
		t.Errorf("it has a run %v", r)
	}
	if r := must[*store.Run](t)(s.LatestRun(ctx)); r != nil {
		t.Errorf("it has a latest run %v", r)
	}
	runs, next, err := s.Runs(ctx, store.Filter{}, store.Order{}, store.Page{Limit: 10})
	if err != nil || len(runs) != 0 || next != "" {
		t.Errorf("it lists runs %v, then %q, error %v", runs, next, err)
	}
	if events := eventsOf(t, s, 1, store.Start); len(events) != 0 {
		t.Errorf("it has events %v", events)
	}
	if known := must[map[string]store.Position](t)(s.Known(ctx, 1, []string{"e"})); len(known) != 0 {
		t.Errorf("it knows %v", known)
	}
	f := must[store.Overview](t)(s.Overview(ctx, period(noon, noon.Add(time.Hour), time.Hour)))
	if diff := cmp.Diff(store.Overview{Since: noon, Until: noon.Add(time.Hour), Step: time.Hour, Buckets: []store.OverviewBucket{{Start: noon}}}, f, wholeBytes); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	commit(t, s, store.Batch{})
}

// words are texts that every store keeps as they are.
var words = rapid.OneOf(
	rapid.SampledFrom([]string{"", "a", "'; DROP TABLE runs; --", `"\`, "%_!?$1", "zeile\nzwei\ttab", "🦊 ünïcode \u2028", "\x01\x7f"}),
	rapid.StringN(0, 40, 120).Filter(func(s string) bool { return store.Text(s) == s }),
)

var (
	moments = rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 3).Draw(t, "zero") == 0 {
			return time.Time{}
		}
		return time.Unix(0, rapid.Int64Range(1, math.MaxInt64).Draw(t, "ns")).UTC()
	})
	amounts = rapid.Float64Range(-1e300, 1e300)
	objects = rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{}`), json.RawMessage(`{"a":"\u0000","b":[1.50]}`), json.RawMessage("{\"a\":\"\xff\x00\"}")})
	places  = rapid.Custom(func(t *rapid.T) store.Position {
		at := rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 2, math.MaxInt64})
		return store.Position{Sequence: at.Draw(t, "sequence"), Time: at.Draw(t, "time"), Tie: rapid.Int64Min(-7).Draw(t, "tie")}
	})
	actions = rapid.SampledFrom([]policy.Action{policy.Allow, policy.Warn, policy.Block, policy.Halt})
)

func drawRun(t *rapid.T, number int64) store.Run {
	count := rapid.IntRange(0, math.MaxInt64)
	tokens := rapid.Int64()
	text := rapid.Ptr(words, true)
	spent := func(name string) store.Usage {
		return store.Usage{Calls: count.Draw(t, name), Tokens: tokens.Draw(t, name), Cost: amounts.Draw(t, name)}
	}
	r := store.Run{
		Number: number, ID: fmt.Sprint(words.Draw(t, "id"), number), Name: words.Draw(t, "name"), Project: words.Draw(t, "project"),
		Status:  rapid.SampledFrom([]string{store.Running, store.Completed, store.Failed, store.Abandoned}).Draw(t, "status"),
		Profile: words.Draw(t, "profile"), Started: moments.Draw(t, "started"), Ended: moments.Draw(t, "ended"), Updated: moments.Draw(t, "updated"),
		Arrival: rapid.Int64().Draw(t, "arrival"), Metadata: objects.Draw(t, "metadata"), Tools: rapid.SliceOfN(words, 0, 5).Draw(t, "tools"),
		Health:   policy.Health{Score: rapid.IntRange(0, 100).Draw(t, "score"), Status: policy.Grade(words.Draw(t, "health"))},
		Warnings: count.Draw(t, "warnings"), WorstAction: actions.Draw(t, "worst"), FirstWarningAt: moments.Draw(t, "warned"), UsageAfterWarning: spent("after"), UsageAfterStop: spent("stop"),
		Guard: store.Guard{By: words.Draw(t, "by"), ShadowedBy: words.Draw(t, "shadowed"), Stopped: rapid.Bool().Draw(t, "stopped"), Repeats: count.Draw(t, "repeats")},
		Metrics: store.Metrics{
			Events: count.Draw(t, "events"), Duration: amounts.Draw(t, "duration"), LLMCalls: count.Draw(t, "llm"), ToolCalls: count.Draw(t, "calls"),
			Retries: count.Draw(t, "retries"), Handoffs: count.Draw(t, "handoffs"), Errors: count.Draw(t, "errors"), Tokens: tokens.Draw(t, "tokens"),
			Cost: amounts.Draw(t, "cost"), MeanLatency: amounts.Draw(t, "mean"), MaxLatency: amounts.Draw(t, "max"),
			BusiestTool: text.Draw(t, "tool"), BusiestAgent: text.Draw(t, "agent"),
		},
		Preview: store.Preview{Novelty: rapid.SliceOfN(rapid.Float64Range(0, 1), 0, store.MaxNovelty).Draw(t, "novelty")}, SlowestEvent: words.Draw(t, "slowest"),
		MeanNovelty: rapid.Float64Range(0, 1).Draw(t, "mean novelty"),
	}
	if rapid.Bool().Draw(t, "late") {
		r.Refold = &store.Refold{Behind: places.Draw(t, "behind"), Name: words.Draw(t, "name of its events")}
	}
	for range rapid.IntRange(0, store.MaxBusiest).Draw(t, "busiest") {
		r.Preview.Tools = append(r.Preview.Tools, store.ToolCalls{Name: words.Draw(t, "tool"), Calls: count.Draw(t, "calls")})
	}
	r.Preview.Warning = words.Draw(t, "worst warning")
	for range rapid.IntRange(0, 3).Draw(t, "points") {
		r.Preview.Health = append(r.Preview.Health, store.HealthAt{Number: count.Draw(t, "number"), Score: rapid.IntRange(0, 100).Draw(t, "score")})
	}
	return r
}

func runsRoundTrip(t *testing.T, s Store) {
	number := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		number++
		for range 2 { // new, then written over
			want := drawRun(rt, number)
			want.ID = fmt.Sprint("r", number)
			if rapid.Bool().Draw(rt, "as drawn") {
				want.ID = fmt.Sprint(words.Draw(rt, "id"), number)
			}
			commit(rt, s, store.Batch{Runs: []store.Run{want}})
			got, err := s.Run(rt.Context(), want.ID)
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(&want, got, cmpopts.EquateEmpty(), wholeBytes); diff != "" {
				rt.Fatalf("run (-want +got):\n%s", diff)
			}
		}
	})
}

func eventsRoundTrip(t *testing.T, s Store) {
	arrival, number := int64(0), int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		number++
		var want []store.Event
		for range rapid.IntRange(0, 80).Draw(rt, "events") {
			arrival++
			want = append(want, store.Event{
				Arrival: arrival, Run: number, ID: fmt.Sprint(words.Draw(rt, "id"), arrival), Position: places.Draw(rt, "position"),
				Received: moments.Draw(rt, "received"), Body: rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(rt, "body"),
				Analysis: rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(rt, "analysis"),
			})
		}
		commit(rt, s, store.Batch{Runs: []store.Run{run(number, fmt.Sprint(number))}, Events: slices.Clone(want)})
		slices.SortStableFunc(want, func(a, b store.Event) int { return a.Position.Compare(b.Position) })
		if diff := cmp.Diff(want, eventsOf(rt, s, number, store.Start), cmpopts.EquateEmpty(), wholeBytes); diff != "" {
			rt.Fatalf("events (-want +got):\n%s", diff)
		}
		behind := places.Draw(rt, "behind")
		want = slices.DeleteFunc(want, func(e store.Event) bool { return e.Position.Compare(behind) <= 0 })
		if diff := cmp.Diff(want, eventsOf(rt, s, number, behind), cmpopts.EquateEmpty(), wholeBytes); diff != "" {
			rt.Fatalf("events behind %v (-want +got):\n%s", behind, diff)
		}
	})
}

func restRoundTrips(t *testing.T, s Store) {
	number := int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		number++
		count := rapid.IntRange(0, math.MaxInt64)
		trace := fmt.Sprint(words.Draw(rt, "trace"), number)
		b := store.Batch{Runs: []store.Run{run(number, fmt.Sprint(number))}}
		for k := range rapid.IntRange(0, 12).Draw(rt, "of each") {
			at := store.Position{Sequence: int64(k), Time: rapid.Int64().Draw(rt, "time"), Tie: rapid.Int64().Draw(rt, "tie")}
			b.Warnings = append(b.Warnings, store.Warning{
				ID: fmt.Sprint(words.Draw(rt, "id"), k), Run: number, Rule: fmt.Sprintf("rule %02d", k), Subject: words.Draw(rt, "subject"),
				Severity: words.Draw(rt, "severity"), Tool: words.Draw(rt, "tool"), Count: count.Draw(rt, "count"), EventID: words.Draw(rt, "event"),
				Message: words.Draw(rt, "message"), Details: objects.Draw(rt, "details"), Created: moments.Draw(rt, "created"), Updated: moments.Draw(rt, "updated"),
			})
			b.Decisions = append(b.Decisions, store.Decision{
				Run: number, Position: at, EventID: words.Draw(rt, "event"), Number: count.Draw(rt, "number"), Action: actions.Draw(rt, "action"),
				Code: words.Draw(rt, "code"), Message: words.Draw(rt, "message"),
			})
			b.Checkpoints = append(b.Checkpoints, store.Checkpoint{Run: number, Position: at, Events: count.Draw(rt, "events"), State: blob(rt, "state")})
			b.Spans = append(b.Spans, store.Span{Trace: trace, ID: fmt.Sprintf("%02d", k), Received: moments.Draw(rt, "received"), Body: blob(rt, "span")})
		}
		commit(rt, s, b)
		compareRest(rt, s, &b, number, trace)
	})
}

func blob(t *rapid.T, name string) []byte { return rapid.SliceOfN(rapid.Byte(), 0, 30).Draw(t, name) }

// compareRest compares what a batch of one run and one trace says to what the store answers.
func compareRest(t tb, s Store, want *store.Batch, run int64, trace string) {
	t.Helper()
	ctx := t.Context()
	got := store.Batch{Runs: want.Runs}
	got.Warnings = must[[]store.Warning](t)(s.Warnings(ctx, run))
	got.Checkpoints = must[[]store.Checkpoint](t)(s.Checkpoints(ctx, run))
	got.Spans = must[[]store.Span](t)(s.Spans(ctx, trace))
	var err error
	if got.Decisions, _, err = s.Decisions(ctx, run, store.Page{Limit: 1000}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*want, got, cmpopts.EquateEmpty(), wholeBytes); diff != "" {
		t.Fatalf("records (-want +got):\n%s", diff)
	}
}

func timesRoundTrip(t *testing.T, s Store) {
	first, last := time.Unix(0, math.MinInt64), time.Unix(0, math.MaxInt64)
	for k, c := range []struct{ in, want time.Time }{
		{time.Time{}, time.Time{}},
		{noon.Add(123456789), noon.Add(123456789)},
		{noon.In(time.FixedZone("", 3600)), noon},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), last},
		{time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC), first},
	} {
		r := run(int64(k+1), fmt.Sprint(k))
		r.Started = c.in
		commit(t, s, store.Batch{Runs: []store.Run{r}})
		got := must[*store.Run](t)(s.Run(t.Context(), r.ID)).Started
		if !got.Equal(c.want) || got.Location() != time.UTC {
			t.Errorf("%v comes back as %v, want %v", c.in, got, c.want)
		}
	}
}
