package swarm_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/unloop-ai/unloop"
	"github.com/unloop-ai/unloop/swarm"
	"github.com/unloop-ai/unloop/swarm/swarmtest"
)

func memory(t testing.TB, b swarm.Bounds) *swarm.Memory {
	t.Helper()
	m, err := swarm.NewMemory(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemoryConforms(t *testing.T) {
	swarmtest.Conform(t, func(t *testing.T) swarm.Store { return memory(t, swarm.Bounds{Swarms: 100, Fingerprints: 100}) })
}

// model is a Memory written as plainly as can be: lists that are searched from end to end.
type model struct {
	bounds  swarm.Bounds
	swarms  []modelSwarm
	dropped swarm.Dropped
}

type modelSwarm struct {
	name    string
	idle    bool
	tallies []swarm.Tally
}

// take takes what is known of a swarm out of the model.
func (m *model) take(name string) modelSwarm {
	for k, s := range m.swarms {
		if s.name == name {
			m.swarms = slices.Delete(m.swarms, k, k+1)
			return s
		}
	}
	return modelSwarm{name: name}
}

// put puts a swarm in that is used now. If there are too many for that which are not idle, those that are go, and all others
// are idle.
func (m *model) put(s modelSwarm) {
	idle := func(s modelSwarm) bool { return s.idle }
	if known := len(m.swarms); known-count(m.swarms, idle) == m.bounds.Swarms {
		m.swarms = slices.DeleteFunc(m.swarms, idle)
		m.dropped.Swarms += int64(known - len(m.swarms))
		for k := range m.swarms {
			m.swarms[k].idle = true
		}
	}
	s.idle = false
	m.swarms = append(m.swarms, s)
}

// put does for fingerprints what model.put does for swarms.
func (s *modelSwarm) put(m *model, t swarm.Tally) {
	idle := func(t swarm.Tally) bool { return t.Idle }
	if known := len(s.tallies); known-count(s.tallies, idle) == m.bounds.Fingerprints {
		s.tallies = slices.DeleteFunc(s.tallies, idle)
		m.dropped.Fingerprints += int64(known - len(s.tallies))
		for k := range s.tallies {
			s.tallies[k].Idle = true
		}
	}
	s.tallies = append(s.tallies, t)
}

func count[T any](list []T, is func(T) bool) (n int) {
	for _, item := range list {
		if is(item) {
			n++
		}
	}
	return n
}

func (m *model) record(name string, calls []swarm.Call) (counts []swarm.Count) {
	if len(calls) == 0 {
		return nil
	}
	s := m.take(name)
	for _, call := range calls {
		if call.Fingerprint == 0 {
			counts = append(counts, swarm.Count{})
			continue
		}
		tally := swarm.Tally{Fingerprint: call.Fingerprint}
		if k := slices.IndexFunc(s.tallies, func(t swarm.Tally) bool { return t.Fingerprint == call.Fingerprint }); k >= 0 {
			tally = s.tallies[k]
			s.tallies = slices.Delete(s.tallies, k, k+1)
		}
		tally.Idle, tally.Tool = false, call.Tool
		tally.Calls++
		if !slices.Contains(tally.Workers, call.Worker) {
			tally.Workers = slices.Sorted(slices.Values(append(slices.Clone(tally.Workers), call.Worker)))
		}
		s.put(m, tally)
		counts = append(counts, swarm.Count{Calls: tally.Calls, Workers: len(tally.Workers), Tool: tally.Tool})
	}
	m.put(s)
	return counts
}

func (m *model) snapshot(name string) swarm.Snapshot {
	saved := swarm.Snapshot{Version: swarm.SnapshotVersion, Fingerprints: []swarm.Tally{}}
	for _, s := range m.swarms {
		if s.name == name {
			saved.Fingerprints = append(saved.Fingerprints, s.tallies...)
		}
	}
	slices.SortFunc(saved.Fingerprints, func(a, b swarm.Tally) int { return int(a.Fingerprint) - int(b.Fingerprint) })
	return saved
}

func (m *model) restore(name string, from swarm.Snapshot) {
	m.take(name)
	m.put(modelSwarm{name: name, tallies: slices.Clone(from.Fingerprints)})
}

func TestMemoryAgreesWithAModel(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c"})
	calls := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) swarm.Call {
		return swarm.Call{
			Fingerprint: unloop.Hash(rapid.IntRange(0, 5).Draw(t, "fingerprint")),
			Tool:        rapid.SampledFrom([]string{"search", "grep"}).Draw(t, "tool"),
			Worker:      rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(t, "worker"),
		}
	}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		bounds := swarm.Bounds{Swarms: rapid.IntRange(1, 2).Draw(t, "swarms"), Fingerprints: rapid.IntRange(1, 4).Draw(t, "fingerprints")}
		store, err := swarm.NewMemory(bounds)
		if err != nil {
			t.Fatal(err)
		}
		ctx, plain := t.Context(), &model{bounds: bounds}
		var saved []byte
		agree := func(t *rapid.T, name string) {
			got, err := store.Snapshot(ctx, name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.snapshot(name), parsed(t, got)); diff != "" {
				t.Fatalf("swarm %s (-model +memory):\n%s", name, diff)
			}
			saved = got
		}
		record := func(t *rapid.T) {
			name, calls := names.Draw(t, "name"), calls.Draw(t, "calls")
			got, err := store.Record(ctx, name, calls)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain.record(name, calls), got); diff != "" {
				t.Fatalf("counts (-model +memory):\n%s", diff)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"record": record, "record again": record, "record once more": record, // most of what happens
			"snapshot": func(t *rapid.T) { agree(t, names.Draw(t, "name")) },
			"restore": func(t *rapid.T) {
				if saved == nil {
					return // nothing is saved yet
				}
				name := names.Draw(t, "name")
				if err := store.Restore(ctx, name, saved); err != nil {
					t.Fatal(err)
				}
				plain.restore(name, parsed(t, saved))
			},
			"clear": func(t *rapid.T) {
				name := names.Draw(t, "name")
				if err := store.Clear(ctx, name); err != nil {
					t.Fatal(err)
				}
				plain.take(name)
			},
			"": func(t *rapid.T) {
				if diff := cmp.Diff(plain.dropped, store.Dropped()); diff != "" {
					t.Fatalf("dropped (-model +memory):\n%s", diff)
				}
			},
		})
		for _, name := range []string{"a", "b", "c"} {
			agree(t, name)
		}
	})
}

func parsed(t interface{ Fatal(args ...any) }, data []byte) swarm.Snapshot {
	s, err := swarm.ParseSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMemoryIsBounded(t *testing.T) {
	t.Run("recently used counts are kept, and evicted ones restart", func(t *testing.T) {
		m := memory(t, swarm.Bounds{Swarms: 1, Fingerprints: 2})
		for k, step := range []struct {
			fingerprint unloop.Hash
			calls       int
			dropped     int64
		}{
			{1, 1, 0}, {2, 1, 0}, {3, 1, 0}, // 1 and 2 are idle
			{1, 2, 0}, {4, 1, 1}, // 2 is dropped; 3 and 1 are idle
			{1, 3, 1}, {2, 1, 2}, // 3 is dropped; 4 and 1 are idle
			{3, 1, 2}, {1, 4, 3}, // 4 is dropped
		} {
			got, err := m.Record(t.Context(), "goal", []swarm.Call{{Fingerprint: step.fingerprint}})
			if err != nil {
				t.Fatal(err)
			}
			if got[0].Calls != step.calls || m.Dropped().Fingerprints != step.dropped {
				t.Errorf("step %d: fingerprint %d has %d calls, %d are dropped; want %d and %d",
					k, step.fingerprint, got[0].Calls, m.Dropped().Fingerprints, step.calls, step.dropped)
			}
		}
	})
	t.Run("a snapshot of a larger store loses what was idle, then some of the rest", func(t *testing.T) {
		large, small := memory(t, swarm.Bounds{Swarms: 1, Fingerprints: 5}), memory(t, swarm.Bounds{Swarms: 1, Fingerprints: 2})
		for n := range 8 {
			if _, err := large.Record(t.Context(), "goal", []swarm.Call{{Fingerprint: unloop.Hash(n + 1)}}); err != nil {
				t.Fatal(err)
			}
		}
		saved, err := large.Snapshot(t.Context(), "goal")
		if err != nil {
			t.Fatal(err)
		}
		if err := small.Restore(t.Context(), "goal", saved); err != nil {
			t.Fatal(err)
		}
		if saved, err = small.Snapshot(t.Context(), "goal"); err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, tally := range parsed(t, saved).Fingerprints {
			kept = append(kept, fmt.Sprint(tally.Fingerprint, " ", tally.Idle))
		}
		if diff := cmp.Diff([]string{"6 true", "7 true", "8 false"}, kept); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		if got, want := small.Dropped(), (swarm.Dropped{Fingerprints: 5}); got != want {
			t.Errorf("dropped %+v, want %+v", got, want)
		}
	})
	t.Run("a full swarm takes 3 MiB at most", func(t *testing.T) {
		m := memory(t, swarm.DefaultBounds())
		calls := make([]swarm.Call, swarm.MaxWorkers)
		before := heap()
		for n := range 4096 + 2048 {
			for k := range calls {
				calls[k] = swarm.Call{Fingerprint: unloop.Hash(n + 1), Tool: "search", Worker: fmt.Sprint("worker ", k)}
			}
			if _, err := m.Record(t.Context(), "goal", calls); err != nil {
				t.Fatal(err)
			}
		}
		if took := heap() - before; took > 3<<20 {
			t.Errorf("the memory is %d KiB", took>>10)
		}
		if got, want := m.Dropped(), (swarm.Dropped{Fingerprints: 2048}); got != want {
			t.Errorf("dropped %+v, want %+v", got, want)
		}
	})
	t.Run("bounds that leave no room are refused", func(t *testing.T) {
		_, err := swarm.NewMemory(swarm.Bounds{})
		const want = "bounds of a swarm store: swarms is 0: it must be from 1 to 1000000\nfingerprints is 0: it must be from 1 to 1000000"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestConcurrentSwarms lets workers count in more swarms than there is room for, while others save, restore and clear
// them: whatever the order, every snapshot is valid, and no call is told a number above what was ever recorded.
func TestConcurrentSwarms(t *testing.T) {
	m := memory(t, swarm.Bounds{Swarms: 3, Fingerprints: 1})
	var group sync.WaitGroup
	for w := range 16 {
		group.Go(func() {
			for n := range 300 {
				if err := visit(t, m, w, n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if d := m.Dropped(); d.Swarms == 0 || d.Fingerprints == 0 {
		t.Errorf("there was room for everything: dropped %+v", d)
	}
}

// visit is what worker w does in round n.
func visit(t *testing.T, m *swarm.Memory, w, n int) error {
	ctx, name := t.Context(), fmt.Sprint("swarm ", (w+n)%5)
	counts, err := m.Record(ctx, name, []swarm.Call{
		{Fingerprint: 1, Worker: fmt.Sprint(w)}, {Fingerprint: 2, Worker: fmt.Sprint(w)}, {Fingerprint: 3, Worker: fmt.Sprint(w)},
	})
	if err != nil {
		return err
	}
	for _, c := range counts {
		if c.Calls < 1 || c.Workers < 1 || c.Workers > 16 || c.Workers > c.Calls {
			return fmt.Errorf("told %+v", c)
		}
	}
	saved, err := m.Snapshot(ctx, name)
	if err != nil {
		return err
	}
	if n%31 == 0 {
		return m.Clear(ctx, name)
	}
	if n%13 == 0 {
		return m.Restore(ctx, fmt.Sprint("swarm ", n%5), saved)
	}
	_, err = swarm.ParseSnapshot(saved)
	return err
}
