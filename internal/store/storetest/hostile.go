package storetest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func hostileText(t *testing.T, s Store) {
	ctx := t.Context()
	for k, name := range []string{
		"a\x00b", "\x00", "bad \xff utf-8 \xe2\x82", `'; DROP TABLE runs; --`, "$1 ? %s", `"`, "\n", " ", "", "\uFFFF\U0010FFFF",
		strings.Repeat("x", 10_000), strings.Repeat("é\x00", 5000), strings.Repeat("\xff", 4000),
	} {
		number, suffix := int64(k+1), fmt.Sprint(k)
		id := name + suffix
		r := run(number, id)
		r.Name, r.Project, r.Profile, r.Tools, r.Metrics.BusiestTool, r.Health.Status = name, name, name, []string{name, "other"}, &name, policy.Grade(name)
		b := store.Batch{
			Runs: []store.Run{r}, Events: []store.Event{event(number, number, id, 1)},
			Spans: []store.Span{{Trace: id, ID: name}}, Traces: []store.TraceRun{{Trace: id, Run: number}},
			Warnings: []store.Warning{{
				Run: number, ID: id, Rule: id, Subject: name, Severity: name, Tool: name, EventID: id, Message: name, Details: []byte(`"` + name + `"`),
			}},
			Decisions: []store.Decision{{Run: number, EventID: id, Code: name, Message: name}},
		}
		b.Events[0].Body = []byte(name)
		commit(t, s, b)

		got := must[*store.Run](t)(s.Run(ctx, id))
		kept := store.Text(name)
		if got == nil || got.ID != store.Key(id) || got.Name != kept || got.Project != store.Key(name) || got.Tools[0] != kept || *got.Metrics.BusiestTool != kept {
			t.Errorf("of run %.40q there is %.200v", id, got)
		}
		known := must[map[string]store.Position](t)(s.Known(ctx, number, []string{"none", id, id}))
		if diff := cmp.Diff(map[string]store.Position{id: b.Events[0].Position}, known, wholeBytes); diff != "" {
			t.Errorf("known (-want +got):\n%s", diff)
		}
		events := must[[]store.Event](t)(s.EventsOf(ctx, number, []string{id}))
		if len(events) != 1 || string(events[0].Body) != name {
			t.Errorf("the event's body is %.100v", events)
		}
		if spans := must[[]store.Span](t)(s.Spans(ctx, id)); len(spans) != 1 {
			t.Errorf("the trace's spans are %.100v", spans)
		}
		if w := must[[]store.Warning](t)(s.Warnings(ctx, number)); len(w) != 1 || w[0].Message != kept || string(w[0].Details) != `"`+name+`"` {
			t.Errorf("the run's warnings are %.200v", w)
		}
		for _, f := range []store.Filter{{Warning: id}, {Tool: name, Project: name, Warning: id}} {
			runs, _, err := s.Runs(ctx, f, store.Order{}, store.Page{Limit: 50})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{store.Key(id)}, runIDs(runs), wholeBytes); diff != "" && name != "" {
				t.Errorf("runs by %.100v (-want +got):\n%s", f, diff)
			}
		}
		n := store.Notice{Endpoint: name, Run: number, Warning: id, Level: name, At: noon, State: []byte(name + "x")}
		commit(t, s, store.Batch{Notices: []store.Notice{n}})
		due, _, err := s.DueLevels(ctx, store.DueWarning{Endpoint: name, Run: number, Warning: id}, "")
		if err != nil || len(due) != 1 || due[0].Level != store.Key(name) || string(due[0].State) != name+"x" {
			t.Errorf("the due notices are %.200v, error %v", due, err)
		}
		must[[]byte](t)(s.Secret(ctx, id))
		duplicates := must[[]store.EventRef](t)(s.Commit(ctx, &store.Batch{Events: []store.Event{event(number+1000, number, id, 1)}}))
		if diff := cmp.Diff([]store.EventRef{{Run: number, ID: id}}, duplicates, wholeBytes); diff != "" {
			t.Errorf("left out (-want +got):\n%s", diff)
		}
		commit(t, s, store.Batch{Removed: []store.EventRef{{Run: number, ID: id}}})
		if events := eventsOf(t, s, number, store.Start); len(events) != 0 {
			t.Errorf("events that were removed: %v", ids(events))
		}
	}
}

func largeBodies(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}}
	for k := range int64(3) {
		e := event(k+1, 1, fmt.Sprint(k), k)
		e.Body = bytes.Repeat([]byte{0, '{', 0xff, byte(k)}, 1<<18)
		b.Events = append(b.Events, e)
	}
	b.Checkpoints = []store.Checkpoint{{Run: 1, State: bytes.Repeat([]byte{7}, 4<<20)}}
	commit(t, s, b)
	if !slices.EqualFunc(b.Events, eventsOf(t, s, 1, store.Start), func(x, y store.Event) bool { return bytes.Equal(x.Body, y.Body) }) {
		t.Error("the events differ")
	}
	got := must[[]store.Checkpoint](t)(s.Checkpoints(t.Context(), 1))
	if len(got) != 1 || !bytes.Equal(got[0].State, b.Checkpoints[0].State) {
		t.Error("the checkpoint differs")
	}
}

func absurdNumbers(t *testing.T, s Store) {
	b := store.Batch{}
	for k := range int64(4) {
		r := run(k+1, fmt.Sprint(k))
		r.Metrics.Cost, r.Metrics.Tokens, r.Metrics.ToolCalls = math.MaxFloat64, math.MaxInt64, math.MaxInt64
		r.UsageAfterWarning = store.Usage{Calls: math.MaxInt64, Tokens: math.MaxInt64, Cost: math.Inf(1)}
		r.Metrics.Duration, r.Metrics.MaxLatency, r.Metrics.MeanLatency = math.NaN(), math.Inf(1), math.Inf(-1)
		b.Runs = append(b.Runs, r)
		b.Warnings = append(b.Warnings, store.Warning{Run: k + 1, ID: "w", Rule: "x", Tool: "y", Count: math.MaxInt64})
	}
	sound := run(9, "9")
	sound.Metrics.Cost, sound.Metrics.Tokens, sound.Metrics.ToolCalls = 1.5, 10, 2
	b.Runs = append(b.Runs, sound)
	commit(t, s, b)
	got := must[*store.Run](t)(s.Run(t.Context(), "0"))
	if m := got.Metrics; m.Duration != 0 || m.MaxLatency != math.MaxFloat64 || m.MeanLatency != -math.MaxFloat64 || got.UsageAfterWarning.Cost != math.MaxFloat64 {
		t.Errorf("what is no number comes back as %+v", m)
	}
	f := must[store.Overview](t)(s.Overview(t.Context(), period(noon, noon.Add(time.Hour), time.Hour)))
	if diff := cmp.Diff(store.Usage{Calls: 2, Tokens: 10, Cost: 1.5}, f.Totals.Usage, wholeBytes); diff != "" || f.Totals.Runs != 5 {
		t.Errorf("of %d runs, spent (-want +got):\n%s", f.Totals.Runs, diff)
	}
}
