package redisstore_test

import (
	"testing"
	"time"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/guardtest"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/internal/redistest"
)

func TestConformance(t *testing.T) {
	server := redistest.Start(t)
	client := server.Client(t)
	guardtest.Conform(t, func(t *testing.T) guard.Store {
		server.Do(t, "FLUSHALL")
		s, err := redisstore.New(client, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
