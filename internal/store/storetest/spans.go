package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
)

// traced writes a span of each trace, and which runs the traces have events in.
func traced(t *testing.T, s Store, runs ...store.TraceRun) {
	t.Helper()
	b := store.Batch{Traces: runs}
	for _, x := range runs {
		b.Spans = append(b.Spans, store.Span{Trace: x.Trace, ID: "s"})
		if x.Run != 0 {
			b.Runs = append(b.Runs, run(x.Run, string(rune('a'+x.Run))))
		}
	}
	commit(t, s, b)
}

// spansLeft fails the test unless those of the traces a to f that have spans are the wanted.
func spansLeft(t *testing.T, s Store, when string, want ...string) {
	t.Helper()
	var left []string
	for _, trace := range []string{"a", "b", "c", "d", "e", "f"} {
		if len(must[[]store.Span](t)(s.Spans(t.Context(), trace))) > 0 {
			left = append(left, trace)
		}
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("%s: traces with spans (-want +got):\n%s", when, diff)
	}
}

func shared(t *testing.T, s Store, run int64, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, must[[]string](t)(s.SharedTraces(t.Context(), run)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("traces of run %d and another (-want +got):\n%s", run, diff)
	}
}

func orphanSpans(t *testing.T, s Store) {
	later := noon.Add(time.Hour)
	traced(t, s, store.TraceRun{Trace: "a", Received: noon}, store.TraceRun{Trace: "b", Run: 1}, store.TraceRun{Trace: "c", Received: later},
		store.TraceRun{Trace: "d", Received: noon}, store.TraceRun{Trace: "e", Received: noon})
	commit(t, s, store.Batch{Traces: []store.TraceRun{
		{Trace: "d", Run: 1},          // it has events since
		{Trace: "e", Received: later}, // more came
	}})
	for _, c := range []struct {
		before time.Time
		want   []string
	}{
		{noon, []string{"a", "b", "c", "d", "e"}},
		{noon.Add(time.Minute), []string{"b", "c", "d", "e"}},
		{later.Add(time.Minute), []string{"b", "d"}},
	} {
		if err := s.DropOrphanSpans(t.Context(), c.before); err != nil {
			t.Fatal(err)
		}
		spansLeft(t, s, c.before.String(), c.want...)
	}
	commit(t, s, store.Batch{Deleted: []int64{1}})
	spansLeft(t, s, "with their run")
}

func deletedSpans(t *testing.T, s Store) {
	traced(t, s, store.TraceRun{Trace: "a", Run: 1}, store.TraceRun{Trace: "b", Run: 1}, store.TraceRun{Trace: "b", Run: 2},
		store.TraceRun{Trace: "c", Run: 1}, store.TraceRun{Trace: "c", Run: 2}, store.TraceRun{Trace: "d", Run: 1},
		store.TraceRun{Trace: "d", Received: noon}, store.TraceRun{Trace: "e", Run: 1}, store.TraceRun{Trace: "f", Run: 3})
	shared(t, s, 1, "b", "c")
	commit(t, s, store.Batch{Left: []store.TraceRun{{Trace: "c", Run: 2}, {Trace: "e", Run: 1}}})
	shared(t, s, 1, "b")
	shared(t, s, 2, "b")
	shared(t, s, 3)
	commit(t, s, store.Batch{Deleted: []int64{1}, Spans: []store.Span{{Trace: "b", ID: "s", Body: []byte("stripped")}}})
	spansLeft(t, s, "without run 1", "b", "e", "f")
	shared(t, s, 2)
	if spans := must[[]store.Span](t)(s.Spans(t.Context(), "b")); string(spans[0].Body) != "stripped" {
		t.Errorf("the trace that is left has %+v", spans)
	}
	commit(t, s, store.Batch{Deleted: []int64{2, 3}, Spans: []store.Span{{Trace: "b", ID: "t"}}})
	spansLeft(t, s, "without any run", "e")
}

func emptiedRun(t *testing.T, s Store) {
	traced(t, s, store.TraceRun{Trace: "a", Run: 1}, store.TraceRun{Trace: "b", Run: 1})
	commit(t, s, store.Batch{
		Runs: []store.Run{run(2, "talk")}, Emptied: []int64{1}, Traces: []store.TraceRun{{Trace: "a", Run: 2}, {Trace: "b", Received: noon}},
	})
	spansLeft(t, s, "once its events have moved", "a", "b")
	if r := must[*store.Run](t)(s.Run(t.Context(), "b")); r != nil {
		t.Errorf("the emptied run is still there: %+v", r)
	}
	commit(t, s, store.Batch{Deleted: []int64{2}})
	spansLeft(t, s, "without the run that they moved to", "b")
	if err := s.DropOrphanSpans(t.Context(), noon.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	spansLeft(t, s, "later")
}
