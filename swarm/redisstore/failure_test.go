package redisstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/internal/redistest"
	"github.com/unloop-ai/unloop/profile"
	"github.com/unloop-ai/unloop/swarm/redisstore"
)

// recordUntil records calls until the store counts one again, and returns the count and the last error before it. A call that ends at
// its limit may have been counted.
func recordUntil(t *testing.T, s *redisstore.Store, limit time.Duration) (calls int, last error) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		counts, err := s.Record(ctx, "goal", call(7))
		cancel()
		if err == nil {
			return counts[0].Calls, last
		}
		last = err
	}
	t.Fatalf("the store does not recover: %v", last)
	return 0, nil
}

func TestTheContextEndsACallToASilentRedis(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Client(t), redisstore.DefaultOptions())
	if n, _ := recordUntil(t, s, time.Minute); n != 1 {
		t.Fatalf("the first call has the number %d", n)
	}
	server.Freeze()
	defer server.Thaw()
	for says, done := range map[string]func() (context.Context, context.CancelFunc){
		"at its deadline": func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 20*time.Millisecond)
		},
		"when it is canceled": func() (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel
		},
	} {
		t.Run(says, func(t *testing.T) {
			ctx, cancel := done()
			defer cancel()
			_, err := s.Record(ctx, "goal", call(7))
			<-ctx.Done() // the client may see the deadline before the context does
			if !errors.Is(err, ctx.Err()) {
				t.Errorf("got %v, want %v", err, ctx.Err())
			}
		})
	}
}

func TestTheContextEndsACallToASilentHost(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Client(t), redisstore.DefaultOptions())
	recordUntil(t, s, time.Minute)
	server.Kill()
	silent, err := net.Listen("tcp", server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	record := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.Record(ctx, "goal", call(7))
		return err
	}
	for end := time.Now().Add(time.Minute); errors.Is(record(), io.EOF); { // a connection to the killed server was in the pool
		if time.Now().After(end) {
			t.Fatal("no call reached the silent host")
		}
	}
	for range 3 {
		if err := record(); !errors.Is(err, context.DeadlineExceeded) { // the client's own limits have other errors
			t.Errorf("the call ended with %v, want the deadline of its context", err)
		}
	}
}

func TestAStoreReconnectsAfterARestartOfRedis(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Client(t), redisstore.DefaultOptions())
	for n := range 3 {
		if calls, _ := recordUntil(t, s, time.Minute); calls != n+1 {
			t.Errorf("call %d has the number %d", n+1, calls)
		}
	}
	server.Kill()
	if _, err := s.Record(t.Context(), "goal", call(7)); err == nil {
		t.Error("a call was counted without Redis")
	}
	server.Restart(t) // empty, and without the scripts
	if calls, _ := recordUntil(t, s, time.Minute); calls != 1 {
		t.Errorf("the first call of the new Redis has the number %d", calls)
	}
}

func TestAGuardContinuesWithoutRedisAndReportsOneError(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Client(t), redisstore.DefaultOptions())
	p, err := profile.New(profile.Default)
	if err != nil {
		t.Fatal(err)
	}
	var told []error
	g := guard.New(p, guard.Options{Run: "run", Swarm: &guard.Swarm{
		Store: s, Name: "goal", Worker: "run", OnError: func(err error) { told = append(told, err) },
	}})
	server.Kill()
	stopped := false
	for n := 0; n < 20 && !stopped; n++ {
		c := guard.Call{Tool: "search", Args: json.RawMessage(`{"q":"x"}`)}
		if stopped = g.Before(t.Context(), c).Stops(); !stopped {
			g.After(t.Context(), c, guard.Outcome{Result: json.RawMessage(`[]`)})
		}
	}
	if !stopped || len(told) != 1 || g.Stats().SwarmErrors == 0 {
		t.Errorf("stopped %v, told %v, %d errors", stopped, told, g.Stats().SwarmErrors)
	}
}

// TestAFailoverIsReportedAndSurvived kills the primary of a real Sentinel.
func TestAFailoverIsReportedAndSurvived(t *testing.T) {
	primary := redistest.Start(t)
	host, port, err := net.SplitHostPort(primary.Address)
	if err != nil {
		t.Fatal(err)
	}
	replica := redistest.Start(t, "--replicaof", host, port)
	sentinel := redistest.StartSentinel(t, fmt.Sprintf("sentinel monitor main %s %s 1\nsentinel down-after-milliseconds main 5000\nsentinel failover-timeout main 3000\n", host, port))
	client := redistest.Connect(t, rueidis.ClientOption{
		InitAddress: []string{sentinel.Address}, Sentinel: rueidis.SentinelOption{MasterSet: "main"},
	})
	s := open(t, client, redisstore.DefaultOptions())
	replica.AwaitInfo(t, "replication", "master_link_status:up")
	for n := range 5 {
		if calls, _ := recordUntil(t, s, time.Minute); calls != n+1 {
			t.Fatalf("call %d has the number %d", n+1, calls)
		}
	}
	if copied := primary.Do(t, "WAIT", "1", "10000"); copied != "1" {
		t.Fatalf("%s replicas have the calls, want 1", copied)
	}
	sentinel.AwaitInfo(t, "sentinel", "slaves=1")
	primary.Kill()
	calls, last := recordUntil(t, s, time.Second)
	if last == nil {
		t.Error("no call failed while there was no primary")
	}
	if calls < 6 { // calls that failed may have been counted
		t.Errorf("the first call after the failover has the number %d, so counts are lost", calls)
	}
	if role := replica.Do(t, "INFO", "replication"); !strings.Contains(role, "role:master") {
		t.Errorf("the replica is not a primary:\n%s", role)
	}
}
