package redisstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/internal/redistest"
)

// countingClient counts round trips.
type countingClient struct {
	rueidis.Client
	trips atomic.Int64
}

func (c *countingClient) Do(ctx context.Context, cmd rueidis.Completed) rueidis.RedisResult {
	c.trips.Add(1)
	return c.Client.Do(ctx, cmd)
}

func (c *countingClient) DoMulti(ctx context.Context, cmds ...rueidis.Completed) []rueidis.RedisResult {
	c.trips.Add(1)
	return c.Client.DoMulti(ctx, cmds...)
}

func TestACallCostsOneRoundTrip(t *testing.T) {
	client := &countingClient{Client: redistest.Start(t).Client(t)}
	s, err := redisstore.New(client, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	run, version := guard.RunKey{Project: "shop", ID: "r"}, int64(0)
	for k := range 3 { // the first calls load the script
		before := client.trips.Load()
		saved, err := s.Save(t.Context(), run, guard.Change{Version: version, Data: []byte("x"), Use: guard.Usage{Calls: 1}, Limits: guard.Usage{Calls: 9}})
		if err != nil {
			t.Fatal(err)
		}
		version = saved.Version
		if _, err := s.Load(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		if trips := client.trips.Load() - before; k > 0 && trips != 2 {
			t.Errorf("a Save and a Load cost %d round trips, want 2", trips)
		}
	}
}
