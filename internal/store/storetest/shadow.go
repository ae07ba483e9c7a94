package storetest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
	"github.com/unloop-ai/unloop/policy"
)

func shadowVerdicts(t *testing.T, s Store) {
	var b store.Batch
	for k, id := range []string{"a", "b", "c"} {
		r := run(int64(k+1), id)
		r.Arrival, r.WorstAction = int64(10+k), policy.Warn
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	due := func(judge string, want ...string) {
		t.Helper()
		got, err := s.ShadowDue(t.Context(), judge, 9)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("due are %q, error %v, want %q", got, err, want)
		}
	}
	keep := func(run, arrival int64, judge string, worst policy.Action, event string, number int) {
		t.Helper()
		v := store.ShadowVerdict{Run: run, Judge: judge, Arrival: arrival, WorstAction: worst, FirstEvent: event, FirstNumber: number}
		if err := s.KeepShadow(t.Context(), v); err != nil {
			t.Error(err)
		}
	}
	due("one", "c", "b", "a")
	keep(1, 10, "one", policy.Halt, "e7", 7)
	keep(2, 11, "one", policy.Warn, "e3", 3)
	keep(3, 12, "one", store.NotJudged, "", 0)
	keep(99, 1, "one", policy.Halt, "no run has the number", 0)
	due("one")
	due("other", "c", "b", "a")
	r := run(2, "b")
	r.Arrival, r.WorstAction, r.Untimed = 20, policy.Allow, true
	commit(t, s, store.Batch{Runs: []store.Run{r}})
	due("one", "b")

	counts, err := s.ShadowCounts(t.Context(), "one")
	wantCounts := []store.ShadowCount{
		{Recorded: policy.Allow, Shadow: policy.Warn, Runs: 1},
		{Recorded: policy.Warn, Shadow: policy.Halt, Runs: 1},
		{Recorded: policy.Warn, Shadow: store.NotJudged, Runs: 1},
	}
	if diff := cmp.Diff(wantCounts, counts); diff != "" || err != nil {
		t.Errorf("counts, error %v (-want +got):\n%s", err, diff)
	}
	lists := func(want []string, q store.ShadowQuery) {
		t.Helper()
		q.Judge = "one"
		runs, err := s.ShadowRuns(t.Context(), q)
		var got []string
		for _, r := range runs {
			text := r.ID + " " + r.Recorded.String() + " " + r.WorstAction.String() + " " + r.FirstEvent
			if r.Untimed {
				text += " untimed"
			}
			got = append(got, text)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("runs of %+v, error %v (-want +got):\n%s", q, err, diff)
		}
	}
	allow, warn, halt := policy.Allow, policy.Warn, policy.Halt
	lists([]string{"a warn halt e7", "b allow warn e3 untimed"}, store.ShadowQuery{Limit: 9})
	lists([]string{"a warn halt e7"}, store.ShadowQuery{Recorded: &warn, Shadow: &halt, Limit: 9})
	lists(nil, store.ShadowQuery{Recorded: &allow, Shadow: &halt, Limit: 9})
	commit(t, s, store.Batch{Deleted: []int64{1}})
	lists([]string{"b allow warn e3 untimed"}, store.ShadowQuery{Shadow: &warn, Limit: 9})
	lists(nil, store.ShadowQuery{Shadow: &halt, Limit: 9})
}
