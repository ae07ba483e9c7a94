package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/unloop-ai/unloop/internal/store"
)

func idleAndOld(t *testing.T, s Store) {
	ctx := t.Context()
	var b store.Batch
	for k, status := range []string{store.Running, store.Completed, store.Running, store.Failed, store.Abandoned, store.Running} {
		r := run(int64(k+1), fmt.Sprint(k))
		r.Status, r.Updated = status, noon.Add(-time.Duration(k)*time.Minute)
		b.Runs = append(b.Runs, r)
	}
	commit(t, s, b)
	for _, c := range []struct {
		says string
		got  []string
		want []string
	}{
		{"idle", must[[]string](t)(s.Idle(ctx, noon, 10)), []string{"5", "2"}},
		{"the one that is idle longest", must[[]string](t)(s.Idle(ctx, noon, 1)), []string{"5"}},
		{"idle long ago", must[[]string](t)(s.Idle(ctx, noon.Add(-5*time.Minute), 10)), nil},
		{"oldest", must[[]string](t)(s.Oldest(ctx, 2)), []string{"4", "3"}},
		{"all that are over", must[[]string](t)(s.Oldest(ctx, 10)), []string{"4", "3", "1"}},
		{"older", must[[]string](t)(s.OlderThan(ctx, noon.Add(-time.Minute), 10)), []string{"4", "3"}},
		{"the oldest of them", must[[]string](t)(s.OlderThan(ctx, noon, 1)), []string{"4"}},
	} {
		if diff := cmp.Diff(c.want, c.got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.says, diff)
		}
	}
	r := b.Runs[4]
	r.Status = store.Running // it was reopened
	commit(t, s, store.Batch{Runs: []store.Run{r}})
	if diff := cmp.Diff([]string{"3", "1"}, must[[]string](t)(s.Oldest(ctx, 10))); diff != "" {
		t.Errorf("once the oldest was reopened (-want +got):\n%s", diff)
	}
}

func badBuckets(t *testing.T, s Store) {
	for _, c := range []struct {
		until time.Time
		step  time.Duration
	}{
		{noon.Add(time.Hour), 0},
		{noon.Add(time.Hour), -time.Minute},
		{noon.Add(-time.Hour), time.Minute},
		{noon.Add(time.Hour), time.Nanosecond},
		{noon.Add(store.MaxBuckets*time.Second + 1), time.Second},
		{time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Second},
	} {
		if _, err := s.Overview(t.Context(), period(noon, c.until, c.step)); !errors.Is(err, store.ErrBuckets) {
			t.Errorf("until %v by %v: error %v", c.until, c.step, err)
		}
	}
	f := must[store.Overview](t)(s.Overview(t.Context(), period(noon, noon.Add(store.MaxBuckets*time.Second), time.Second)))
	if len(f.Buckets) != store.MaxBuckets {
		t.Errorf("%d buckets", len(f.Buckets))
	}
}

func unflushed(t *testing.T, s Store) {
	holds := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, must[[]string](t)(s.Unflushed(t.Context()))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	holds()
	commit(t, s, store.Batch{
		Runs:   []store.Run{run(1, "a"), run(2, "b"), run(3, "c")},
		Events: []store.Event{event(1, 1, "1", 1), event(2, 2, "1", 1), event(3, 1, "2", 2)},
	})
	holds("a", "b")
	commit(t, s, store.Batch{Flushed: 2})
	holds("a")
	commit(t, s, store.Batch{Flushed: 3})
	holds()
}

func size(t *testing.T, s Store) {
	ctx := t.Context()
	fresh := must[int64](t)(s.Size(ctx))
	b := store.Batch{}
	for number := range int64(2) {
		b.Runs = append(b.Runs, run(number+1, fmt.Sprint(number)))
		for k := range int64(500) {
			e := event(number*500+k+1, number+1, fmt.Sprint(k), k)
			e.Body = bytes.Repeat([]byte{'x'}, 2000)
			b.Events = append(b.Events, e)
			b.Runs[number].Bytes += 2150 // as its writer counts
		}
	}
	commit(t, s, b)
	whole := must[int64](t)(s.Size(ctx)) - fresh
	if whole < 2_000_000 || whole > 4_000_000 {
		t.Errorf("2 MB of events count %d bytes", whole)
	}
	again := store.Batch{Runs: b.Runs[:1], Events: b.Events[:500]}
	for _, e := range again.Events {
		again.Removed = append(again.Removed, store.EventRef{Run: e.Run, ID: e.ID})
	}
	commit(t, s, again)
	known := store.Batch{Events: slices.Clone(b.Events[500:])}
	for k := range known.Events {
		known.Events[k].Arrival += 1000
	}
	if duplicates, err := s.Commit(ctx, &known); err != nil || len(duplicates) != 500 {
		t.Fatalf("%d events are known, error %v", len(duplicates), err)
	}
	if now := must[int64](t)(s.Size(ctx)) - fresh; now < whole*9/10 || now > whole*11/10 {
		t.Errorf("the same events, written again, count %d bytes, not %d", now, whole)
	}
	commit(t, s, store.Batch{Deleted: []int64{1}})
	if half := must[int64](t)(s.Size(ctx)) - fresh; half < whole*4/10 || half > whole*6/10 {
		t.Errorf("half of the events count %d bytes of %d", half, whole)
	}
	if err := s.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	if events := eventsOf(t, s, 2, store.Start); len(events) != 500 {
		t.Errorf("reclaiming left %d events", len(events))
	}
}

func secrets(t *testing.T, s Store) {
	ctx := t.Context()
	mask := must[[]byte](t)(s.Secret(ctx, "mask"))
	if again := must[[]byte](t)(s.Secret(ctx, "mask")); len(mask) != 32 || !bytes.Equal(mask, again) {
		t.Errorf("a secret is %x, then %x", mask, again)
	}
	if other := must[[]byte](t)(s.Secret(ctx, "other")); bytes.Equal(mask, other) {
		t.Error("two names have the same secret")
	}
	var keys [12][]byte
	for k := range keys {
		keys[k] = must[[]byte](t)(s.Secret(ctx, fmt.Sprintf("key_%02d", k)))
	}
	if err := s.DropSecrets(ctx, "key_00", "key_10"); err != nil {
		t.Fatal(err)
	}
	for k, before := range keys {
		if now := must[[]byte](t)(s.Secret(ctx, fmt.Sprintf("key_%02d", k))); bytes.Equal(now, before) != (k >= 10) {
			t.Errorf("key %d is %x, before the old ones were deleted %x", k, now, before)
		}
	}
	if again := must[[]byte](t)(s.Secret(ctx, "mask")); !bytes.Equal(mask, again) {
		t.Error("a secret of another name was deleted")
	}
}

func working(t *testing.T, s Store) {
	for range 2 {
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Writable(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// readersMeanwhile reads a run while each commit adds two events and increases its counts.
func readersMeanwhile(t *testing.T, s Store) {
	const rounds = 100
	ctx := t.Context()
	commit(t, s, store.Batch{Runs: []store.Run{run(1, "a")}})
	var done atomic.Bool
	var readers sync.WaitGroup
	var looks atomic.Int64
	for range 4 {
		readers.Go(func() {
			for last := 0; !done.Load(); looks.Add(1) {
				events, _, err := s.EventPage(ctx, 1, store.Page{Limit: 1000})
				if err != nil {
					t.Errorf("reading during commits: %v", err)
					return
				}
				r, err := s.Run(ctx, "a")
				if err != nil {
					t.Errorf("reading during commits: %v", err)
					return
				}
				if len(events)%2 != 0 || len(events) < last || r.Metrics.Events < len(events) {
					t.Errorf("after %d events, there are %d of %d", last, len(events), r.Metrics.Events)
					return
				}
				last = len(events)
			}
		})
	}
	for k := range int64(rounds) {
		r := run(1, "a")
		r.Metrics.Events = int(2*k + 2)
		commit(t, s, store.Batch{Runs: []store.Run{r}, Events: []store.Event{event(2*k+1, 1, fmt.Sprint(2*k), 2*k), event(2*k+2, 1, fmt.Sprint(2*k+1), 2*k+1)}})
	}
	done.Store(true)
	readers.Wait()
	if events := eventsOf(t, s, 1, store.Start); len(events) != 2*rounds {
		t.Errorf("in the end there are %d events", len(events))
	}
	if looks.Load() == 0 {
		t.Error("nobody read meanwhile")
	}
}
