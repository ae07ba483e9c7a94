package redisstore_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/guardtest"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/internal/redistest"
	"github.com/unloop-ai/unloop/profile"
)

func TestAGuardContinuesWithoutRedisAndSharesAgainAfterwards(t *testing.T) {
	server := redistest.Start(t)
	s, err := redisstore.New(server.Client(t), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(profile.Source{Name: "agentium", Sets: []string{"max_repeats=3"}})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	open := func() *guard.Guard {
		return guard.New(p, guard.Options{Run: "run", Shared: &guard.Shared{Store: guardtest.Patient{Store: s}, OnError: func(error) { told++ }}})
	}
	g := open()
	search := func(g *guard.Guard) bool {
		c := guard.Call{Tool: "search", Args: json.RawMessage(`{"q":"x"}`)}
		d := g.Before(t.Context(), c)
		if !d.Stops() {
			g.After(t.Context(), c, guard.Outcome{Result: json.RawMessage(`[]`)})
		}
		return d.Stops()
	}
	search(g)
	server.Kill()
	search(g)
	if told != 1 || g.Stats().StoreErrors != 2 {
		t.Errorf("told %d times of %d errors, want 1 of 2", told, g.Stats().StoreErrors)
	}
	server.Restart(t) // empty: the guard brings its run back
	for end := time.Now().Add(time.Minute); g.Load(t.Context()) != nil; {
		if time.Now().After(end) {
			t.Fatal("the store does not recover")
		}
	}
	search(g)
	if other := open(); other.Load(t.Context()) != nil || other.State().Calls != 3 {
		t.Errorf("another guard sees %d calls, want 3", other.State().Calls)
	}
}
