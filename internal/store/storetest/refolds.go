package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
)

func someEvents(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}, Events: []store.Event{event(9, 2, "other", 90)}}
	for k := range int64(7) {
		b.Events = append(b.Events, event(k+1, 1, string(rune('a'+k)), 10-k))
	}
	commit(t, s, b)
	for _, c := range []struct {
		behind int64 // a sequence
		limit  int
		want   []string
	}{
		{0, 3, []string{"g", "f", "e"}},
		{6, 2, []string{"d", "c"}},
		{9, 5, []string{"a"}},
		{10, 5, nil},
	} {
		var got []string
		behind := store.Position{Sequence: c.behind, Time: c.behind, Tie: 99}
		err := s.NextEvents(t.Context(), 1, behind, c.limit, func(e *store.Event) error {
			got = append(got, e.ID)
			return nil
		})
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%d events behind %d (-want +got):\n%s\nerror %v", c.limit, c.behind, diff, err)
		}
	}
	if at := must[store.Position](t)(s.Furthest(t.Context(), 1)); at != b.Events[1].Position {
		t.Errorf("the last event is at %v, want %v", at, b.Events[1].Position)
	}
	if at := must[store.Position](t)(s.Furthest(t.Context(), 3)); at != (store.Position{}) {
		t.Errorf("an unknown run has its last event at %v", at)
	}
}

func refolding(t *testing.T, s Store) {
	marked := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, must[[]string](t)(s.Refolding(t.Context())), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("marked runs (-want +got):\n%s", diff)
		}
	}
	marked()
	var runs []store.Run
	for k, id := range []string{"a", "b", "c"} {
		runs = append(runs, run(int64(k+1), id))
	}
	runs[0].Refold = &store.Refold{Behind: store.Start}
	runs[2].Refold = &store.Refold{Behind: store.Position{Sequence: 1, Time: 2, Tie: 3}, Name: "a run"}
	commit(t, s, store.Batch{Runs: slices.Clone(runs)})
	marked("a", "c")
	runs[0].Refold = nil
	runs[0].Arrival = 77 // of no event
	commit(t, s, store.Batch{Runs: runs[:1], Deleted: []int64{3}})
	marked()
	if arrival, _, err := s.Last(t.Context()); err != nil || arrival != 77 {
		t.Errorf("the last arrival is %d, want 77; error %v", arrival, err)
	}
}

func newAnalyses(t *testing.T, s Store) {
	b := store.Batch{Runs: []store.Run{run(1, "a"), run(2, "b")}, Events: []store.Event{event(1000, 2, "other", 1)}}
	for k := range int64(300) {
		b.Events = append(b.Events, event(k+1, 1, fmt.Sprint("e", k), k))
	}
	commit(t, s, b)
	var changed []store.Reanalyzed
	want := slices.Clone(b.Events[1:])
	for k := range want {
		if k%3 == 2 { // without an analysis from now on
			want[k].Analysis = nil
		} else {
			want[k].Analysis = fmt.Appendf(nil, `{"repeats":%d}`, k)
		}
		changed = append(changed, store.Reanalyzed{Arrival: want[k].Arrival, Run: 1, Analysis: []byte("old")})
	}
	for k := range want {
		changed = append(changed, store.Reanalyzed{Arrival: want[k].Arrival, Run: 1, Analysis: want[k].Analysis})
	}
	changed = append(changed, store.Reanalyzed{Arrival: 999, Run: 1, Analysis: []byte("none")})
	commit(t, s, store.Batch{Removed: []store.EventRef{{Run: 1, ID: want[7].ID}}, Analyses: changed})
	want = slices.Delete(want, 7, 8)
	if diff := cmp.Diff(want, eventsOf(t, s, 1, store.Start), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(b.Events[:1], eventsOf(t, s, 2, store.Start)); diff != "" {
		t.Errorf("events of the other run (-want +got):\n%s", diff)
	}
}
