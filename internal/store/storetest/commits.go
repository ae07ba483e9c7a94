package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
)

func duplicateEvents(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}}
	for k := range int64(300) {
		b.Events = append(b.Events, event(k+1, 1, fmt.Sprint(k), k))
	}
	commit(t, s, b)
	again := store.Batch{Runs: []store.Run{run(1, "a")}, Warnings: []store.Warning{{ID: "w", Run: 1}}}
	var want []store.EventRef
	for k := range int64(600) {
		e := event(1000+k, 1, fmt.Sprint(k*7), k)
		if k*7 < 300 {
			want = append(want, store.EventRef{Run: 1, ID: e.ID})
		}
		again.Events = append(again.Events, e)
	}
	twin := event(2000, 1, again.Events[599].ID, 1)
	again.Events = append(again.Events, event(1999, 2, "7", 1), twin)
	want = append(want, store.EventRef{Run: 1, ID: twin.ID})

	got, err := s.Commit(t.Context(), &again)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	events := eventsOf(t, s, 1, store.Start)
	if len(events) != 300+600-43 {
		t.Errorf("the run has %d events", len(events))
	}
	for _, e := range events {
		if e.ID == "7" && e.Arrival != 8 {
			t.Errorf("a known event was replaced by %+v", e)
		}
	}
	if diff := cmp.Diff([]string{"7"}, ids(eventsOf(t, s, 2, store.Start))); diff != "" {
		t.Errorf("events of the other run (-want +got):\n%s", diff)
	}
	if warnings := must[[]store.Warning](t)(s.Warnings(t.Context(), 1)); len(warnings) != 1 {
		t.Errorf("the rest of the batch is not there: warnings %v", warnings)
	}
}

func writtenAgain(t *testing.T, s Store) {
	b := full(1, "a", "ta")
	commit(t, s, b)
	commit(t, s, b)
	holds(t, s, b, "ta")
	b.Events = append(b.Events, event(99, 1, "g", 3))
	commit(t, s, b)
	holds(t, s, b, "ta")
}

func changedEvents(t *testing.T, s Store) {
	commit(t, s, store.Batch{Runs: []store.Run{run(1, "a")}, Events: []store.Event{event(1, 1, "x", 1), event(2, 1, "y", 2), event(3, 1, "z", 3)}})
	again := event(1, 1, "x", 9)
	again.Body = []byte("changed")
	commit(t, s, store.Batch{
		Runs: []store.Run{run(1, "a")}, Events: []store.Event{event(4, 1, "y", 5), again},
		Removed: []store.EventRef{{Run: 1, ID: "x"}, {Run: 1, ID: "y"}, {Run: 1, ID: "z"}, {Run: 1, ID: "none"}, {Run: 2, ID: "x"}},
	})
	if diff := cmp.Diff([]store.Event{event(4, 1, "y", 5), again}, eventsOf(t, s, 1, store.Start)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func lastOfEquals(t *testing.T, s Store) {
	first, second := run(1, "a"), run(1, "a")
	first.Name = "old"
	at := store.Position{Sequence: 1}
	want := store.Batch{
		Runs:        []store.Run{second},
		Warnings:    []store.Warning{{Run: 1, ID: "w", Count: 2}},
		Decisions:   []store.Decision{{Run: 1, Position: at, Code: "new"}},
		Checkpoints: []store.Checkpoint{{Run: 1, Position: at, State: []byte("new")}},
		Spans:       []store.Span{{Trace: "t", ID: "s", Received: noon}},
	}
	const more = 20 // so that one statement would write the same row twice
	b := store.Batch{
		Runs:        append(slices.Repeat([]store.Run{first}, more), second),
		Warnings:    append(slices.Repeat([]store.Warning{{Run: 1, ID: "w", Count: 1}}, more), want.Warnings[0]),
		Decisions:   append(slices.Repeat([]store.Decision{{Run: 1, Position: at, Code: "old"}}, more), want.Decisions[0]),
		Checkpoints: append(slices.Repeat([]store.Checkpoint{{Run: 1, Position: at, State: []byte("old")}}, more), want.Checkpoints[0]),
		Spans:       append(slices.Repeat([]store.Span{{Trace: "t", ID: "s"}}, more), want.Spans[0]),
	}
	commit(t, s, b)
	compareRest(t, s, &want, 1, "t")
	if r := must[*store.Run](t)(s.Run(t.Context(), "a")); r.Name != second.Name {
		t.Errorf("the run is called %q", r.Name)
	}
}

// full returns a batch with something of everything, for a run and a trace.
func full(number int64, id, trace string) store.Batch {
	at := store.Position{Sequence: 1, Time: 2, Tie: 3}
	return store.Batch{
		Runs:        []store.Run{run(number, id)},
		Events:      []store.Event{event(number*10, number, "e", 1), event(number*10+1, number, "f", 2)},
		Spans:       []store.Span{{Trace: trace, ID: "s", Body: []byte("x")}},
		Traces:      []store.TraceRun{{Trace: trace, Run: number}},
		Warnings:    []store.Warning{{Run: number, ID: id + "-w", Rule: "repeat", Tool: "grep", Count: 3, Message: "needle", Created: noon}},
		Decisions:   []store.Decision{{Run: number, Position: at, EventID: "e", Code: "c"}},
		Checkpoints: []store.Checkpoint{{Run: number, Position: at, Events: 1, State: []byte("y")}},
	}
}

// holds compares what a full batch wrote to what the store has of its run.
func holds(t *testing.T, s Store, b store.Batch, trace string) {
	t.Helper()
	number := b.Runs[0].Number
	if diff := cmp.Diff(b.Events, eventsOf(t, s, number, store.Start), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	b.Events, b.Traces = nil, nil
	compareRest(t, s, &b, number, trace)
}

// nothing fails the test if the store has anything of a run.
func nothing(t *testing.T, s Store, number int64, id, trace string) {
	t.Helper()
	if r := must[*store.Run](t)(s.Run(t.Context(), id)); r != nil {
		t.Errorf("the run is there: %+v", r)
	}
	holds(t, s, store.Batch{Runs: []store.Run{{Number: number}}}, trace)
	runs, _, err := s.Runs(t.Context(), store.Filter{}, store.Order{}, store.Page{Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		if r.Number == number {
			t.Errorf("the run is listed")
		}
	}
	if known := must[map[string]store.Position](t)(s.Known(t.Context(), number, []string{"e", "f"})); len(known) > 0 {
		t.Errorf("its events are known: %v", known)
	}
}

func failingBatch(t *testing.T, s Store) {
	commit(t, s, full(1, "a", "ta"))
	for _, c := range []struct {
		says  string
		spoil func(*store.Batch)
	}{
		{"an arrival that another event has", func(b *store.Batch) { b.Events[1].Arrival = 11 }},
		{"a new number for a known run", func(b *store.Batch) { b.Runs = append(b.Runs, run(77, "a")) }},
	} {
		b := full(2, "b", "tb")
		b.Deleted = []int64{0}
		b.Removed = []store.EventRef{{Run: 1, ID: "e"}}
		b.Invalidated = []store.Invalidated{{Run: 1, Behind: store.Start}}
		c.spoil(&b)
		if _, err := s.Commit(t.Context(), &b); err == nil {
			t.Fatalf("%s: the batch was written", c.says)
		}
		nothing(t, s, 2, "b", "tb")
		holds(t, s, full(1, "a", "ta"), "ta")
	}
	commit(t, s, full(2, "b", "tb"))
	holds(t, s, full(2, "b", "tb"), "tb")
}

func doneContext(t *testing.T, s Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := full(1, "a", "ta")
	if _, err := s.Commit(ctx, &b); err == nil {
		t.Error("it committed")
	}
	nothing(t, s, 1, "a", "ta")
}

func invalidated(t *testing.T, s Store) {
	b, want := store.Batch{Runs: []store.Run{run(1, "a")}}, store.Batch{Runs: []store.Run{run(1, "a")}}
	for k := range int64(5) {
		at := store.Position{Sequence: 1, Time: k / 2, Tie: k}
		d, c := store.Decision{Run: 1, Position: at, Number: int(k)}, store.Checkpoint{Run: 1, Position: at, State: []byte{byte(k)}}
		b.Decisions, b.Checkpoints = append(b.Decisions, d), append(b.Checkpoints, c)
		if k <= 2 {
			want.Decisions, want.Checkpoints = append(want.Decisions, d), append(want.Checkpoints, c)
		}
	}
	b.Warnings = []store.Warning{{Run: 1, ID: "old", Rule: "x"}}
	commit(t, s, b)
	commit(t, s, full(2, "b", "tb"))

	raised := store.Warning{Run: 1, ID: "new", Rule: "y"}
	anew := store.Decision{Run: 1, Position: store.Position{Sequence: 3}, Code: "anew"}
	commit(t, s, store.Batch{
		Invalidated: []store.Invalidated{{Run: 1, Behind: store.Position{Sequence: 1, Time: 1, Tie: 2}}}, Warnings: []store.Warning{raised},
		Decisions: []store.Decision{anew},
	})
	want.Warnings, want.Decisions = []store.Warning{raised}, append(want.Decisions, anew)
	compareRest(t, s, &want, 1, "none")
	holds(t, s, full(2, "b", "tb"), "tb")
}

func prunedCheckpoints(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a")}}
	for k := range int64(4) {
		b.Checkpoints = append(b.Checkpoints, store.Checkpoint{Run: 1, Position: store.Position{Sequence: k / 2, Time: 5, Tie: k}, State: []byte{1}})
	}
	commit(t, s, b)
	gone := []store.Checkpoint{{Run: 1, Position: b.Checkpoints[1].Position}, {Run: 2, Position: b.Checkpoints[2].Position}}
	commit(t, s, store.Batch{Pruned: gone})
	b.Checkpoints = append(b.Checkpoints[:1:1], b.Checkpoints[2:]...)
	compareRest(t, s, &b, 1, "none")
}

// deletedRunWithoutWarnings deletes a run whose warnings a refold deleted before. Its notices are deleted, too.
func deletedRunWithoutWarnings(t *testing.T, s Store) {
	commit(t, s, full(1, "a", "ta"))
	commit(t, s, store.Batch{Notices: []store.Notice{notice(1, "a-w", "raised")}})
	commit(t, s, store.Batch{Invalidated: []store.Invalidated{{Run: 1, Behind: store.Start}}})
	if due := dueOf(t, s, 1, "a-w"); len(due) != 1 {
		t.Errorf("due after a run was folded again: %v", due)
	}
	commit(t, s, store.Batch{Deleted: []int64{1}})
	commit(t, s, full(2, "a", "ta"))
	if first, _, err := s.DueWarnings(t.Context(), "hook", "", 9); len(first) != 0 || err != nil {
		t.Errorf("the notice outlives the deleted run: %v, error %v", first, err)
	}
}

func deletedRun(t *testing.T, s Store) {
	ctx := t.Context()
	commit(t, s, full(1, "a", "ta"))
	commit(t, s, full(2, "b", "tb"))
	commit(t, s, store.Batch{Notices: []store.Notice{notice(1, "a-w", "raised"), notice(2, "b-w", "raised")}})
	commit(t, s, store.Batch{Deleted: []int64{1, 99}})
	nothing(t, s, 1, "a", "ta")
	if err := s.MarkSent(ctx, []store.Notice{notice(1, "a-w", "raised")}); err != nil {
		t.Error(err)
	}
	if sent := must[[]string](t)(s.SentLevels(ctx, "hook", "a-w")); len(sent) != 0 {
		t.Errorf("levels of a run that does not exist were sent: %v", sent)
	}
	commit(t, s, full(3, "a", "ta"))
	first, _, err := s.DueWarnings(ctx, "hook", "", 9)
	if diff := cmp.Diff([]store.DueWarning{{Endpoint: "hook", Run: 2, RunID: "b", Warning: "b-w"}}, first); diff != "" || err != nil {
		t.Errorf("error %v, due (-want +got):\n%s", err, diff)
	}
	commit(t, s, store.Batch{Deleted: []int64{3}})
	runs, _, err := s.Runs(ctx, store.Filter{Warning: "repeat"}, store.Order{}, store.Page{Limit: 10})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b"}, runIDs(runs)); diff != "" {
		t.Errorf("runs with the warning (-want +got):\n%s", diff)
	}
	holds(t, s, full(2, "b", "tb"), "tb")
}

func deletedAndNew(t *testing.T, s Store) {
	commit(t, s, full(1, "a", "ta"))
	b := full(2, "a", "ta")
	b.Deleted = []int64{1}
	commit(t, s, b)
	b.Deleted = nil
	holds(t, s, b, "ta")
	if r := must[*store.Run](t)(s.Run(t.Context(), "a")); r == nil || r.Number != 2 {
		t.Errorf("the run is %+v", r)
	}
}
