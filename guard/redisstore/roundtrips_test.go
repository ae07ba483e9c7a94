package redisstore_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard/guardtest"
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
	guardtest.OneRoundTrip(t, s, client.trips.Load)
}
