package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

func waitingNotices(t *testing.T, s Store) {
	warned(t, s, "a", "b")
	keep := func(minute int, endpoint string, run int64, warning, state, before string) {
		t.Helper()
		n := store.WaitingNotice{Endpoint: endpoint, Run: run, Warning: warning, Since: noon.Add(time.Duration(minute) * time.Minute)}
		err := s.KeepNotice(t.Context(), n, func(had []byte) ([]byte, error) {
			if string(had) != before {
				t.Errorf("%s %s had the state %q, want %q", endpoint, warning, had, before)
			}
			return []byte(state), nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	waits := func(endpoint string, want ...string) {
		t.Helper()
		first, total, err := s.WaitingNotices(t.Context(), endpoint, 2)
		if err != nil || total != len(want) {
			t.Errorf("%d wait for %s, error %v, want %d", total, endpoint, err, len(want))
		}
		var got []string
		for _, n := range first {
			got = append(got, n.Warning+" "+string(n.State))
		}
		if diff := cmp.Diff(slices.Clip(want)[:min(2, len(want))], got); diff != "" {
			t.Errorf("what waits for %s (-want +got):\n%s", endpoint, diff)
		}
	}
	keep(5, "hook", 1, "w-a", "one", "")
	keep(3, "hook", 2, "w-b", "two", "")
	keep(9, "hook", 2, "w-c", "three", "")
	keep(1, "other", 1, "w-a", "four", "")
	keep(7, "hook", 99, "w-x", "no run has the number", "")
	waits("hook", "w-b two", "w-a one", "w-c three")
	keep(8, "hook", 2, "w-b", "five", "two")
	waits("hook", "w-b five", "w-a one", "w-c three") // in its place
	if err := s.ForgetNotices(t.Context(), "hook", "w-b"); err != nil {
		t.Error(err)
	}
	waits("hook", "w-a one", "w-c three")
	commit(t, s, store.Batch{Deleted: []int64{2}})
	waits("hook", "w-a one")
	if err := s.ForgetNotices(t.Context(), "hook", ""); err != nil {
		t.Error(err)
	}
	waits("hook")
	waits("other", "w-a four")
}
