package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/internal/store"
)

// notice returns a due notice for the endpoint hook.
func notice(run int64, warning, level string) store.Notice {
	return store.Notice{Endpoint: "hook", Run: run, Warning: warning, Level: level, At: noon, State: []byte("{}")}
}

// dueOf returns the due levels of a warning for the endpoint hook, with their states.
func dueOf(t *testing.T, s Store, run int64, warning string) (levels []string) {
	t.Helper()
	due, silenced, err := s.DueLevels(t.Context(), store.DueWarning{Endpoint: "hook", Run: run, Warning: warning}, "")
	if err != nil || silenced {
		t.Errorf("due of %s: error %v, silenced %v", warning, err, silenced)
	}
	for _, n := range due {
		levels = append(levels, n.Level+" "+string(n.State))
	}
	slices.Sort(levels)
	return levels
}

func dueNotices(t *testing.T, s Store) {
	ctx := t.Context()
	warned(t, s, "a", "b")
	at := func(minute int, n store.Notice) store.Notice {
		n.At = noon.Add(time.Duration(minute) * time.Minute)
		return n
	}
	sent, other, held := notice(1, "w-a", "8"), notice(1, "w-a", "raised"), notice(2, "w-b", "raised")
	sent.State, other.Endpoint, held.Holder = nil, "other", "n1"
	commit(t, s, store.Batch{Notices: []store.Notice{
		at(5, notice(1, "w-a", "raised")), at(6, notice(1, "w-a", "block")), at(1, sent), at(1, other), at(3, notice(2, "w-b", "halt")),
		at(9, notice(2, "w-c", "raised")), at(2, held), at(8, notice(99, "w-x", "raised")),
	}})
	waits := func(endpoint, holder string, want ...store.DueWarning) {
		t.Helper()
		first, total, err := s.DueWarnings(ctx, endpoint, holder, 3)
		if err != nil || total != len(want) {
			t.Errorf("%d warnings are due for %s of %q, error %v, want %d", total, endpoint, holder, err, len(want))
		}
		if diff := cmp.Diff(slices.Clip(want)[:min(3, len(want))], first); diff != "" {
			t.Errorf("what is due for %s of %q (-want +got):\n%s", endpoint, holder, diff)
		}
	}
	due := func(endpoint string, run int64, id, warning string) store.DueWarning {
		return store.DueWarning{Endpoint: endpoint, Run: run, RunID: id, Warning: warning}
	}
	waits("hook", "", due("hook", 2, "b", "w-b"), due("hook", 1, "a", "w-a"), due("hook", 99, "", "w-x"), due("hook", 2, "b", "w-c"))
	waits("hook", "n1", due("hook", 2, "b", "w-b"))
	waits("other", "", due("other", 1, "a", "w-a"))
	if err := s.MarkSent(ctx, []store.Notice{notice(1, "w-a", "raised"), notice(1, "w-a", "block"), notice(1, "run:1", "block")}); err != nil {
		t.Error(err)
	}
	waits("hook", "", due("hook", 2, "b", "w-b"), due("hook", 99, "", "w-x"), due("hook", 2, "b", "w-c"))
	for warning, want := range map[string][]string{"w-a": {"8", "block", "raised"}, "run:1": {"block"}, "w-b": nil} {
		levels := must[[]string](t)(s.SentLevels(ctx, "hook", warning))
		slices.Sort(levels)
		if diff := cmp.Diff(want, levels); diff != "" {
			t.Errorf("sent of %s (-want +got):\n%s", warning, diff)
		}
	}
	if err := s.DropDue(ctx, "hook"); err != nil {
		t.Error(err)
	}
	waits("hook", "")
	waits("hook", "n1")
	waits("other", "", due("other", 1, "a", "w-a"))
	commit(t, s, store.Batch{Deleted: []int64{1}})
	waits("other", "")
}

func firstNotices(t *testing.T, s Store) {
	warned(t, s, "a", "b")
	first, again := notice(1, "w-a", "block"), notice(1, "w-a", "block")
	first.State, again.State = []byte("first"), []byte("again")
	commit(t, s, store.Batch{Notices: []store.Notice{first, again}})
	commit(t, s, store.Batch{Notices: []store.Notice{again}})
	if diff := cmp.Diff([]string{"block first"}, dueOf(t, s, 1, "w-a")); diff != "" {
		t.Errorf("due (-want +got):\n%s", diff)
	}
	if err := s.MarkSent(t.Context(), []store.Notice{first}); err != nil {
		t.Error(err)
	}
	commit(t, s, store.Batch{Notices: []store.Notice{again}})
	if due := dueOf(t, s, 1, "w-a"); due != nil {
		t.Errorf("a level that was sent is due again: %v", due)
	}
	droppedNotices(t, s)
}

// droppedNotices drops notices, which can be due again, unless they were sent.
func droppedNotices(t *testing.T, s Store) {
	t.Helper()
	raised, block := notice(2, "w-b", "raised"), notice(2, "w-b", "block")
	both := []store.Notice{raised, block}
	commit(t, s, store.Batch{Notices: both})
	if err := s.MarkSent(t.Context(), both[:1]); err != nil {
		t.Error(err)
	}
	if err := s.DropNotices(t.Context(), both); err != nil {
		t.Error(err)
	}
	if due := dueOf(t, s, 2, "w-b"); due != nil {
		t.Errorf("due after they were dropped: %v", due)
	}
	commit(t, s, store.Batch{Notices: both})
	if diff := cmp.Diff([]string{"block {}"}, dueOf(t, s, 2, "w-b")); diff != "" {
		t.Errorf("due again (-want +got):\n%s", diff)
	}
}
