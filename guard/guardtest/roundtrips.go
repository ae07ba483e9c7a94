package guardtest

import (
	"testing"

	"github.com/unloop-ai/unloop/guard"
)

// OneRoundTrip tests that a Save and a Load of an empty store cost one round trip each. The function trips returns the number of round
// trips so far. The first calls do not count, because a store may prepare its statements in them.
func OneRoundTrip(t *testing.T, s guard.Store, trips func() int64) {
	t.Helper()
	var version int64
	for k := range 3 {
		before := trips()
		saved := save(t, s, run, guard.Change{Version: version, Data: []byte("x"), Use: guard.Usage{Calls: 1}, Limits: guard.Usage{Calls: 9}})
		version = saved.Version
		if _, err := s.Load(t.Context(), run); err != nil {
			t.Fatalf("loading: %v", err)
		}
		if n := trips() - before; k > 0 && n != 2 {
			t.Errorf("a Save and a Load cost %d round trips, want 2", n)
		}
	}
}
