package swarm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/unloop-ai/unloop/swarm"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		says   string
		limits swarm.Limits
		count  swarm.Count
		loop   bool
	}{
		{"ten calls by two workers are a loop", swarm.DefaultLimits(), swarm.Count{Calls: 10, Workers: 2}, true},
		{"nine are not", swarm.DefaultLimits(), swarm.Count{Calls: 9, Workers: 5}, false},
		{"one worker alone is no swarm", swarm.DefaultLimits(), swarm.Count{Calls: 100, Workers: 1}, false},
		{"more is a loop still", swarm.DefaultLimits(), swarm.Count{Calls: 11, Workers: 3}, true},
		{"an uncounted call is no loop", swarm.DefaultLimits(), swarm.Count{}, false},
		{"the number of calls is a setting", swarm.Limits{Calls: 4, Workers: 2}, swarm.Count{Calls: 4, Workers: 2}, true},
		{"the number of workers is a setting", swarm.Limits{Calls: 10, Workers: 3}, swarm.Count{Calls: 10, Workers: 2}, false},
	} {
		t.Run(c.says, func(t *testing.T) {
			if got := c.limits.Loop(c.count); got != c.loop {
				t.Errorf("%+v under %+v: loop is %v", c.count, c.limits, got)
			}
		})
	}
}

func TestLimitsAreChecked(t *testing.T) {
	if err := swarm.DefaultLimits().Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
	err := swarm.Limits{Calls: 1, Workers: swarm.MaxWorkers + 1}.Validate()
	const want = "calls is 1: it must be from 2 to 1000000\nworkers is 65: it must be from 1 to 64"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestTheTenthCallIsALoop tells the published example: ten calls in sum, made by two workers.
func TestTheTenthCallIsALoop(t *testing.T) {
	store, limits := memory(t, swarm.DefaultBounds()), swarm.DefaultLimits()
	for n := 1; n <= 12; n++ {
		worker := []string{"left", "right"}[n%2]
		counts, err := store.Record(t.Context(), "goal", []swarm.Call{{Fingerprint: 7, Tool: "search", Worker: worker}})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := limits.Loop(counts[0]), n >= 10; got != want {
			t.Errorf("call %d: loop is %v", n, got)
		}
	}
}

func TestEqualCountsHaveEqualSnapshots(t *testing.T) {
	store := memory(t, swarm.DefaultBounds())
	_, err := store.Record(t.Context(), "goal", []swarm.Call{
		{Fingerprint: 1<<64 - 1, Tool: "search", Worker: "b"},
		{Fingerprint: 7, Tool: "grep", Worker: "b"},
		{Fingerprint: 7, Tool: "grep", Worker: "a"},
	})
	known, err2 := store.Snapshot(t.Context(), "goal")
	unknown, err3 := store.Snapshot(t.Context(), "nobody's")
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	const want = `[{"version":1,"fingerprints":[` +
		`{"fingerprint":"7","tool":"grep","calls":2,"workers":["a","b"]},` +
		`{"fingerprint":"18446744073709551615","tool":"search","calls":1,"workers":["b"]}]},` +
		`{"version":1,"fingerprints":[]}]`
	got, err := json.Marshal([]json.RawMessage{known, unknown})
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
