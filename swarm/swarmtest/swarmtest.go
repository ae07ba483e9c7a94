// Package swarmtest is a conformance test for implementations of swarm.Store.
package swarmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/swarm"
)

// Conform tests an implementation of swarm.Store in subtests. The function open returns a new, empty store with room for at
// least 100 swarms of 100 fingerprints each. It registers its cleanup with t.Cleanup.
func Conform(t *testing.T, open func(t *testing.T) swarm.Store) {
	t.Helper()
	for _, c := range []struct {
		says string
		test func(t *testing.T, s swarm.Store)
	}{
		{"each call of a batch gets its own count", countsInOrder},
		{"a worker counts once", workersCountOnce},
		{"workers beyond the bound count as the bound", manyWorkers},
		{"swarms have separate counts", swarmsApart},
		{"a call without a fingerprint is not counted", noFingerprint},
		{"an empty batch is valid", emptyBatch},
		{"invalid names are rejected", badNames},
		{"any name of a tool is accepted", anyTool},
		{"the store keeps no reference to the caller's slices", ownMemory},
		{"a context that is done is an error", doneContext},
		{"a snapshot is sorted", snapshotOrder},
		{"a restored swarm continues from its snapshot", restored},
		{"restoring replaces the earlier counts", restoreReplaces},
		{"a bad snapshot changes nothing", badSnapshots},
		{"clearing removes one swarm", clearing},
		{"sixteen concurrent workers lose and duplicate no call", sixteenWorkers},
		{"snapshots can be taken and restored while workers count", snapshotsMeanwhile},
	} {
		t.Run(c.says, func(t *testing.T) { c.test(t, open(t)) })
	}
}

const goal = "goal"

func call(fingerprint unloop.Hash, worker string) swarm.Call {
	return swarm.Call{Fingerprint: fingerprint, Tool: "search", Worker: worker}
}

func count(calls, workers int) swarm.Count {
	return swarm.Count{Calls: calls, Workers: workers, Tool: "search"}
}

// record records calls and compares their counts to want.
func record(t *testing.T, s swarm.Store, name string, calls []swarm.Call, want ...swarm.Count) {
	t.Helper()
	got, err := s.Record(t.Context(), name, calls)
	if err != nil {
		t.Fatalf("recording: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func snapshot(t *testing.T, s swarm.Store, name string) swarm.Snapshot {
	t.Helper()
	got, err := s.Snapshot(t.Context(), name)
	if err != nil {
		t.Fatalf("taking a snapshot: %v", err)
	}
	parsed, err := swarm.ParseSnapshot(got)
	if err != nil {
		t.Fatalf("the snapshot is not valid: %v", err)
	}
	return parsed
}

func restore(t *testing.T, s swarm.Store, name string, from swarm.Snapshot) {
	t.Helper()
	if err := s.Restore(t.Context(), name, encoded(t, from)); err != nil {
		t.Fatalf("restoring: %v", err)
	}
}

func encoded(t *testing.T, s swarm.Snapshot) []byte {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// holds compares the counts of a swarm to want.
func holds(t *testing.T, s swarm.Store, name string, want ...swarm.Tally) {
	t.Helper()
	full := swarm.Snapshot{Version: swarm.SnapshotVersion, Fingerprints: append([]swarm.Tally{}, want...)}
	if diff := cmp.Diff(full, snapshot(t, s, name)); diff != "" {
		t.Errorf("the counts of %q (-want +got):\n%s", name, diff)
	}
}

func countsInOrder(t *testing.T, s swarm.Store) {
	record(t, s, goal, []swarm.Call{call(7, "a"), call(8, "a"), call(7, "b"), call(7, "a")},
		count(1, 1), count(1, 1), count(2, 2), count(3, 2))
	record(t, s, goal, []swarm.Call{{Fingerprint: 8, Tool: "grep", Worker: "b"}}, swarm.Count{Calls: 2, Workers: 2, Tool: "grep"})
	record(t, s, goal, []swarm.Call{call(8, "b")}, count(3, 2))
}

func workersCountOnce(t *testing.T, s swarm.Store) {
	for n := range 5 {
		record(t, s, goal, []swarm.Call{call(7, "")}, count(n+1, 1))
	}
	record(t, s, goal, []swarm.Call{call(7, "a")}, count(6, 2))
}

func manyWorkers(t *testing.T, s swarm.Store) {
	for n := 1; n <= swarm.MaxWorkers+6; n++ {
		record(t, s, goal, []swarm.Call{call(7, fmt.Sprint("worker ", n))}, count(n, min(n, swarm.MaxWorkers)))
	}
	snapshot(t, s, goal) // it must be valid
}

func swarmsApart(t *testing.T, s swarm.Store) {
	for _, name := range []string{"goal", "other", "", "goal "} {
		record(t, s, name, []swarm.Call{call(7, "a")}, count(1, 1))
	}
}

func noFingerprint(t *testing.T, s swarm.Store) {
	record(t, s, goal, []swarm.Call{call(0, "a"), call(7, "a"), call(0, "a")}, swarm.Count{}, count(1, 1), swarm.Count{})
	holds(t, s, goal, swarm.Tally{Fingerprint: 7, Tool: "search", Calls: 1, Workers: []string{"a"}})
}

func emptyBatch(t *testing.T, s swarm.Store) {
	counts, err := s.Record(t.Context(), goal, nil)
	if err != nil || len(counts) != 0 {
		t.Errorf("got %v, %v", counts, err)
	}
}

func badNames(t *testing.T, s swarm.Store) {
	long, broken := strings.Repeat("n", swarm.MaxName+1), "caf\xe9"
	for _, bad := range []string{long, broken} {
		if _, err := s.Record(t.Context(), goal, []swarm.Call{call(7, "a"), call(7, bad)}); err == nil {
			t.Errorf("a worker %.8q… was accepted", bad)
		}
		if _, err := s.Record(t.Context(), bad, []swarm.Call{call(7, "a")}); err == nil {
			t.Errorf("a swarm %.8q… was accepted", bad)
		}
	}
	holds(t, s, goal)
	record(t, s, long[1:], []swarm.Call{call(7, long[1:])}, count(1, 1))
}

func anyTool(t *testing.T, s swarm.Store) {
	long := strings.Repeat("é", swarm.MaxName)
	record(t, s, goal, []swarm.Call{{Fingerprint: 7, Tool: long, Worker: "a"}, {Fingerprint: 8, Tool: "x\xffy", Worker: "a"}},
		swarm.Count{Calls: 1, Workers: 1, Tool: long[:swarm.MaxName]}, swarm.Count{Calls: 1, Workers: 1, Tool: "xy"})
	snapshot(t, s, goal) // it must be valid
}

func ownMemory(t *testing.T, s swarm.Store) {
	batch := []swarm.Call{call(7, "a")}
	record(t, s, goal, batch, count(1, 1))
	batch[0] = call(9, "z")
	first := snapshot(t, s, goal)
	restore(t, s, "copy", first)
	first.Fingerprints[0].Workers[0] = "z"
	first.Fingerprints[0].Calls = 99
	for _, name := range []string{goal, "copy"} {
		holds(t, s, name, swarm.Tally{Fingerprint: 7, Tool: "search", Calls: 1, Workers: []string{"a"}})
	}
}

func doneContext(t *testing.T, s swarm.Store) {
	record(t, s, goal, []swarm.Call{call(7, "a")}, count(1, 1))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for _, ctx := range []context.Context{cancelled, late} {
		_, recording := s.Record(ctx, goal, []swarm.Call{call(7, "a")})
		_, saving := s.Snapshot(ctx, goal)
		restoring := s.Restore(ctx, goal, encoded(t, swarm.Snapshot{Version: swarm.SnapshotVersion}))
		for _, err := range []error{recording, saving, restoring, s.Clear(ctx, goal)} {
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("got %v, want an error that wraps %v", err, ctx.Err())
			}
		}
	}
	record(t, s, goal, []swarm.Call{call(7, "a")}, count(2, 1))
}

func snapshotOrder(t *testing.T, s swarm.Store) {
	holds(t, s, goal)
	record(t, s, goal, []swarm.Call{call(9, "b"), call(7, "c"), call(8, "a"), call(7, "a"), call(7, "b"), call(8, "a")},
		count(1, 1), count(1, 1), count(1, 1), count(2, 2), count(3, 3), count(2, 1))
	holds(t, s, goal,
		swarm.Tally{Fingerprint: 7, Tool: "search", Calls: 3, Workers: []string{"a", "b", "c"}},
		swarm.Tally{Fingerprint: 8, Tool: "search", Calls: 2, Workers: []string{"a"}},
		swarm.Tally{Fingerprint: 9, Tool: "search", Calls: 1, Workers: []string{"b"}})
}

func restored(t *testing.T, s swarm.Store) {
	const large = ^unloop.Hash(0)
	record(t, s, goal, []swarm.Call{call(large, "b"), call(7, "é\n"), call(large, "a"), call(8, "a")},
		count(1, 1), count(1, 1), count(2, 2), count(1, 1))
	before := snapshot(t, s, goal)
	restore(t, s, "copy", before)
	holds(t, s, "copy", before.Fingerprints...)
	for _, name := range []string{goal, "copy"} {
		record(t, s, name, []swarm.Call{call(large, "a"), call(large, "c"), call(7, "a")}, count(3, 2), count(4, 3), count(2, 2))
	}
	holds(t, s, "copy", snapshot(t, s, goal).Fingerprints...)
}

func restoreReplaces(t *testing.T, s swarm.Store) {
	record(t, s, goal, []swarm.Call{call(7, "a")}, count(1, 1))
	saved := snapshot(t, s, goal)
	record(t, s, goal, []swarm.Call{call(7, "b"), call(8, "b")}, count(2, 2), count(1, 1))
	restore(t, s, goal, saved)
	holds(t, s, goal, saved.Fingerprints...)
	record(t, s, goal, []swarm.Call{call(8, "a"), call(7, "a")}, count(1, 1), count(2, 1))
	restore(t, s, goal, swarm.Snapshot{Version: swarm.SnapshotVersion})
	holds(t, s, goal)
}

func badSnapshots(t *testing.T, s swarm.Store) {
	good := swarm.Tally{Fingerprint: 7, Tool: "search", Calls: 1, Workers: []string{"a"}}
	restore(t, s, goal, swarm.Snapshot{Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{good}})
	for says, bad := range map[string]swarm.Snapshot{
		"without a version":                  {},
		"of a later version":                 {Version: swarm.SnapshotVersion + 1},
		"with a zero fingerprint":            {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{{Calls: 1, Workers: []string{"a"}}}},
		"with a fingerprint without calls":   {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{{Fingerprint: 8, Workers: []string{"a"}}}},
		"with a fingerprint without workers": {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{{Fingerprint: 8, Calls: 1}}},
		"with a duplicate fingerprint":       {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{good, good}},
		"with a duplicate worker":            {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{{Fingerprint: 8, Calls: 2, Workers: []string{"a", "a"}}}},
		"with more workers than calls":       {Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{{Fingerprint: 8, Calls: 1, Workers: []string{"a", "b"}}}},
	} {
		if err := s.Restore(t.Context(), goal, encoded(t, bad)); err == nil {
			t.Errorf("a snapshot %s was accepted", says)
		}
	}
	for _, bad := range []string{"", "{", `{"version":1,"fingerprints":7}`} {
		if err := s.Restore(t.Context(), goal, []byte(bad)); err == nil {
			t.Errorf("the snapshot %q was accepted", bad)
		}
	}
	holds(t, s, goal, good)
}

func clearing(t *testing.T, s swarm.Store) {
	for _, name := range []string{goal, "other"} {
		record(t, s, name, []swarm.Call{call(7, "a"), call(8, "b")}, count(1, 1), count(1, 1))
	}
	for range 2 { // the second time, there is nothing to remove
		if err := s.Clear(t.Context(), goal); err != nil {
			t.Fatal(err)
		}
	}
	holds(t, s, goal)
	record(t, s, goal, []swarm.Call{call(7, "b")}, count(1, 1))
	record(t, s, "other", []swarm.Call{call(7, "b")}, count(2, 2))
}

// sixteenWorkers records single calls and batches of two fingerprints concurrently. For each fingerprint, the counts of the
// calls must be the numbers from 1 on, each once.
func sixteenWorkers(t *testing.T, s swarm.Store) {
	const workers, rounds, a, b = 16, 50, 7, 8
	counts := make([][]swarm.Count, workers) // per round: of a, of b, of a
	var group sync.WaitGroup
	for w := range workers {
		worker := fmt.Sprint("worker ", w)
		group.Go(func() {
			for range rounds {
				one, err := s.Record(t.Context(), goal, []swarm.Call{call(a, worker)})
				two, err2 := s.Record(t.Context(), goal, []swarm.Call{call(b, worker), call(a, worker)})
				if err := errors.Join(err, err2); err != nil {
					t.Error(err)
					return
				}
				counts[w] = append(append(counts[w], one...), two...)
			}
		})
	}
	group.Wait()
	seenA, seenB := map[int]bool{}, map[int]bool{}
	for w := range counts {
		for k, c := range counts[w] {
			seen := seenA
			if k%3 == 1 {
				seen = seenB
			}
			if seen[c.Calls] {
				t.Fatalf("two calls have the number %d", c.Calls)
			}
			seen[c.Calls] = true
		}
	}
	if len(seenA) != 2*workers*rounds || len(seenB) != workers*rounds {
		t.Errorf("got %d and %d numbers, want %d and %d", len(seenA), len(seenB), 2*workers*rounds, workers*rounds)
	}
	record(t, s, goal, []swarm.Call{call(a, "worker 0"), call(b, "worker 0")},
		count(2*workers*rounds+1, workers), count(workers*rounds+1, workers))
}

func snapshotsMeanwhile(t *testing.T, s swarm.Store) {
	const rounds = 100
	var group sync.WaitGroup
	for w := range 4 {
		group.Go(func() {
			for n := range rounds {
				if _, err := s.Record(t.Context(), goal, []swarm.Call{call(unloop.Hash(n%9+1), fmt.Sprint(w))}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range rounds {
		taken := snapshot(t, s, goal)
		restore(t, s, "copy", taken)
		holds(t, s, "copy", taken.Fingerprints...)
	}
	group.Wait()
	sum := 0
	for _, tally := range snapshot(t, s, goal).Fingerprints {
		sum += tally.Calls
	}
	if sum != 4*rounds {
		t.Errorf("%d calls were counted, want %d", sum, 4*rounds)
	}
}
