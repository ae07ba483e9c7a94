package redisstore_test

import (
	"os"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/guardtest"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/internal/redistest"
)

func TestMain(m *testing.M) {
	guardtest.Process(func(address string) (guard.Store, error) {
		client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, AlwaysPipelining: true, DisableCache: true})
		if err != nil {
			return nil, err
		}
		return redisstore.New(client, time.Hour)
	})
	os.Exit(m.Run())
}

func TestSixteenProcessesJudgeAsOneGuard(t *testing.T) {
	server := redistest.Start(t)
	s, err := redisstore.New(server.Client(t), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	guardtest.Processes(t, s, server.Address)
}

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
