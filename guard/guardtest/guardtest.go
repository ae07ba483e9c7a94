// Package guardtest is the test suite for implementations of guard.Store.
package guardtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop/guard"
)

// Conform tests an implementation of guard.Store in subtests. The function open returns an empty store and registers its cleanup with
// t.Cleanup.
func Conform(t *testing.T, open func(t *testing.T) guard.Store) {
	t.Helper()
	for _, c := range []struct {
		says string
		test func(t *testing.T, s guard.Store)
	}{
		{"an unknown run has no snapshot", unknownRun},
		{"a saved snapshot is loaded", savedIsLoaded},
		{"a change of an old version is a conflict", oldVersion},
		{"a run that the store does not have takes any version", lostRun},
		{"runs and projects are apart", runsApart},
		{"usage is counted with the save that has it", usageCounts},
		{"a limit refuses the save", limitsRefuse},
		{"a context that is done is an error", doneContext},
		{"sixteen concurrent writers lose no change", concurrentWriters},
		{"calls judged by many guards have the decisions of one guard", manyGuardsAreOne},
		{"guards that judge at the same time lose and duplicate no call", guardsMeanwhile},
		{"guards share the limits of their project", guardsShareLimits},
	} {
		t.Run(c.says, func(t *testing.T) { c.test(t, open(t)) })
	}
}

var run = guard.RunKey{Project: "shop", ID: "run"}

func save(t *testing.T, s guard.Store, key guard.RunKey, c guard.Change) guard.Saved {
	t.Helper()
	saved, err := s.Save(t.Context(), key, c)
	if err != nil {
		t.Fatalf("saving: %v", err)
	}
	return saved
}

// holds compares the snapshot of a run to want.
func holds(t *testing.T, s guard.Store, key guard.RunKey, want guard.Saved) {
	t.Helper()
	got, err := s.Load(t.Context(), key)
	if err != nil {
		t.Fatalf("loading: %v", err)
	}
	want.Status, want.Used = guard.Done, guard.Usage{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run %q of project %q (-want +got):\n%s", key.ID, key.Project, diff)
	}
}

func unknownRun(t *testing.T, s guard.Store) { holds(t, s, run, guard.Saved{}) }

func savedIsLoaded(t *testing.T, s guard.Store) {
	version := int64(0)
	for _, data := range [][]byte{{0}, []byte("text"), bytes.Repeat([]byte{0, 255, '\r', '\n', '\\'}, 100_000)} {
		saved := save(t, s, run, guard.Change{Version: version, Data: data})
		if saved.Status != guard.Done || saved.Version == version || saved.Version == 0 || saved.Data != nil {
			t.Fatalf("saved on version %d: status %d, version %d, %d bytes", version, saved.Status, saved.Version, len(saved.Data))
		}
		version = saved.Version
		holds(t, s, run, guard.Saved{Version: version, Data: data})
	}
}

func oldVersion(t *testing.T, s guard.Store) {
	first := save(t, s, run, guard.Change{Data: []byte("a")})
	second := save(t, s, run, guard.Change{Version: first.Version, Data: []byte("b")})
	for _, version := range []int64{0, first.Version, second.Version + 1} {
		got := save(t, s, run, guard.Change{Version: version, Data: []byte("c"), Use: guard.Usage{Calls: 1}})
		want := guard.Saved{Status: guard.Conflict, Version: second.Version, Data: []byte("b")}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("saving on version %d (-want +got):\n%s", version, diff)
		}
	}
	holds(t, s, run, guard.Saved{Version: second.Version, Data: []byte("b")})
	third := save(t, s, run, guard.Change{Version: second.Version, Data: []byte("d"), Use: guard.Usage{Calls: 1}})
	if third.Used.Calls != 1 {
		t.Errorf("a conflict counted usage: %+v", third.Used)
	}
}

func lostRun(t *testing.T, s guard.Store) {
	const version = 1 << 52
	saved := save(t, s, run, guard.Change{Version: version, Data: []byte("a")})
	if saved.Status != guard.Done || saved.Version == version {
		t.Errorf("got %+v, want it to be saved under another version", saved)
	}
	holds(t, s, run, guard.Saved{Version: saved.Version, Data: []byte("a")})
}

func runsApart(t *testing.T, s guard.Store) {
	keys := []guard.RunKey{run, {ID: "run"}, {Project: "run", ID: "shop"}, {Project: "a}", ID: "b"}, {Project: "a", ID: "}b"}, {Project: "a:run:b"}, {ID: "caf\xe9\x00"}}
	saved := make([]guard.Saved, len(keys))
	for k, key := range keys {
		saved[k] = save(t, s, key, guard.Change{Data: []byte{byte(k)}, Use: guard.Usage{Calls: 1}})
		if saved[k].Status != guard.Done {
			t.Errorf("run %q of project %q is another run, too", key.ID, key.Project)
		}
	}
	for k, key := range keys {
		holds(t, s, key, guard.Saved{Version: saved[k].Version, Data: []byte{byte(k)}})
	}
}

func usageCounts(t *testing.T, s guard.Store) {
	hours, saves := 0, int64(0)
	for n := range 20 {
		use := guard.Usage{Calls: 1, Tokens: 1 << 40, Cost: 0.1}
		saved := save(t, s, guard.RunKey{Project: "shop", ID: strconv.Itoa(n)}, guard.Change{Data: []byte("a"), Use: use})
		if saves++; saved.Used.Calls == 1 && hours < 2 { // the first save, or the first in the next hour of the store
			hours, saves = hours+1, 1
		}
		want := guard.Usage{Calls: saves, Tokens: saves * use.Tokens, Cost: float64(saves) / 10}
		if diff := cmp.Diff(want, saved.Used); diff != "" {
			t.Fatalf("usage after save %d of the hour (-want +got):\n%s", saves, diff)
		}
	}
}

func limitsRefuse(t *testing.T, s guard.Store) {
	for says, c := range map[string]struct {
		limits, each guard.Usage
		allowed      int
	}{
		"of calls":           {guard.Usage{Calls: 3}, guard.Usage{Calls: 1}, 3},
		"of tokens":          {guard.Usage{Tokens: 100}, guard.Usage{Calls: 1, Tokens: 40}, 3},
		"of cost":            {guard.Usage{Cost: 0.3}, guard.Usage{Calls: 1, Cost: 0.1}, 3},
		"of several, lowest": {guard.Usage{Calls: 50, Cost: 0.2}, guard.Usage{Calls: 1, Cost: 0.1}, 2},
	} {
		t.Run(says, func(t *testing.T) {
			key, last := guard.RunKey{Project: says, ID: "run"}, guard.Saved{}
			for n := range c.allowed {
				last = save(t, s, key, guard.Change{Version: last.Version, Data: []byte{byte(n)}, Use: c.each, Limits: c.limits})
				if last.Status != guard.Done {
					t.Fatalf("change %d has status %d", n, last.Status)
				}
			}
			over := save(t, s, key, guard.Change{Version: last.Version, Data: []byte("over"), Use: c.each, Limits: c.limits})
			want := guard.Saved{Status: guard.OverLimit, Version: last.Version, Data: []byte{byte(c.allowed - 1)}, Used: last.Used}
			if diff := cmp.Diff(want, over); diff != "" {
				t.Errorf("over the limit (-want +got):\n%s", diff)
			}
			if last = save(t, s, key, guard.Change{Version: last.Version, Data: []byte("free"), Use: c.each}); last.Status != guard.Done {
				t.Errorf("a change without limits has status %d", last.Status)
			}
		})
	}
}

func doneContext(t *testing.T, s guard.Store) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{cancelled, late} {
		_, loading := s.Load(ctx, run)
		_, saving := s.Save(ctx, run, guard.Change{Data: []byte("a")})
		for _, err := range []error{loading, saving} {
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("got %v, want an error that wraps %v", err, ctx.Err())
			}
		}
	}
	holds(t, s, run, guard.Saved{})
}

// concurrentWriters appends to one run from sixteen writers. Each change must be in the result once.
func concurrentWriters(t *testing.T, s guard.Store) {
	const writers, rounds = 16, 10
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			latest := guard.Saved{}
			for range rounds {
				for done := false; !done; {
					data := append(bytes.Clone(latest.Data), byte(w))
					saved, err := s.Save(t.Context(), run, guard.Change{Version: latest.Version, Data: data, Use: guard.Usage{Calls: 1}})
					if err != nil {
						t.Error(err)
						return
					}
					done, latest = saved.Status == guard.Done, saved
					if done {
						latest.Data = data
					}
				}
			}
		})
	}
	group.Wait()
	got, err := s.Load(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	for w := range writers {
		if n := bytes.Count(got.Data, []byte{byte(w)}); n != rounds {
			t.Errorf("writer %d has %d changes, want %d", w, n, rounds)
		}
	}
	if used := save(t, s, run, guard.Change{Version: got.Version, Use: guard.Usage{Calls: 1}}).Used.Calls; used != writers*rounds+1 {
		t.Errorf("%d calls are counted, want %d", used, writers*rounds+1)
	}
}

// failIfMissed fails the test at an error of the store.
func failIfMissed(t *testing.T) func(error) {
	return func(err error) { t.Error(fmt.Errorf("a guard missed the store: %w", err)) }
}
